import t from 'tap';
import {
  bodyOf,
  draftOf,
  emptyDraft,
  isNewVersion,
  readKind,
  trialOf,
} from '../../../../../../dashboard/pages/evaluator/definition/draft.ts';

const none = { scope: 'request', llm_template: null, code_template: null, external_config: null } as const;
const input = { inputBody: { messages: [] }, outputBody: { choices: [] }, inputs: {} };

t.test('An evaluator that was not changed in the form is sent as it is', async (t) => {
  const evaluators = [
    {
      ...none,
      scoring_type: 'LLM-CHOICE',
      llm_template: {
        model: 'gpt-4o',
        prompt: 'Which tone?',
        choices: [
          { score: -1, description: 'rude' },
          { score: 0.5, description: 'friendly' },
        ],
        examples: [{ input: 'i', output: 'o', label: 'rude', reasoning: '' }],
      },
    },
    { ...none, scoring_type: 'LLM-RANGE', llm_template: { model: 'a', prompt: 'b', min: 0, max: 2.5 } },
    {
      ...none,
      scoring_type: 'LLM-PAIRWISE',
      llm_template: {
        model: 'a',
        prompt: 'Which?',
        jury: { models: ['b', 'c,d'], rule: 'majority', quorum: 2 },
      },
    },
    {
      ...none,
      scoring_type: 'LLM-RUBRIC',
      llm_template: { model: 'a', prompt: 'How?', criteria: [{ id: 'x', version: 3 }] },
    },
    {
      ...none,
      scoring_type: 'LLM-RANGE',
      llm_template: {
        ...{ model: 'a', prompt: 'b', min: 0, max: 2.5 },
        examples: [{ input: '', output: 'o', score: 1.5 }],
      },
    },
    { ...none, scoring_type: 'LLM-BOOLEAN', llm_template: { model: 'a', prompt: 'b' } },
    {
      ...none,
      scoring_type: 'LLM-BOOLEAN',
      llm_template: {
        model: 'a',
        prompt: 'b',
        examples: [
          { input: 'i', output: 'o', score: true },
          { input: 'i', output: 'p', score: 0, reasoning: 'No' },
        ],
      },
    },
    {
      ...none,
      scoring_type: 'PYTHON',
      code_template: {
        code: 'x',
        categories: [
          { label: 'bad', score: -0.5 },
          { label: 'good', score: 1 },
        ],
      },
    },
    { ...none, scoring_type: 'PYTHON', code_template: { code: 'x', limits: { wallMs: 500 } } },
    {
      ...none,
      scoring_type: 'EXTERNAL',
      external_config: { adapter: 'autoevals', scorer: 'Levenshtein', expected: '1' },
    },
    {
      ...none,
      scoring_type: 'EXTERNAL',
      external_config: {
        adapter: 'autoevals',
        scorer: 'ListContains',
        expected: ['a'],
        allowExtraEntities: false,
      },
    },
    {
      ...none,
      scoring_type: 'EXTERNAL',
      external_config: { adapter: 'autoevals', scorer: 'ExactMatch', expectedFrom: 'inputs.answer' },
    },
  ] as const;
  for (const { scoring_type, ...templates } of evaluators) {
    const given = structuredClone({
      name: 'One',
      scoring_type,
      daily_budget_usd: 2.5,
      threshold: 0.5,
      ...templates,
    });
    const sent = bodyOf(draftOf(given as Parameters<typeof draftOf>[0]));
    const [field, template] = Object.entries(templates).find(
      ([name, value]) => name !== 'scope' && value !== null,
    )!;
    const budget = scoring_type === 'PYTHON' ? {} : { daily_budget_usd: 2.5 };
    const scope = 'request';
    t.same(
      sent,
      { name: 'One', scoring_type, scope, [field]: template, ...budget, threshold: 0.5 },
      scoring_type,
    );
  }
});

t.test('Secrets that were not written again are sent as the mark that keeps them', async (t) => {
  const draft = draftOf({
    ...none,
    name: 'Service',
    scoring_type: 'EXTERNAL',
    daily_budget_usd: null,
    threshold: null,
    external_config: {
      adapter: 'http',
      url: 'https://scores.example.com',
      headers: { 'x-api-key': '[secret]', 'x-other': '[secret]' },
      secret: '[secret]',
    },
  });
  const [kept, replaced] = draft.external.headers;
  const changed = {
    ...draft,
    external: { ...draft.external, headers: [kept!, { ...replaced!, value: 'new' }] },
  };
  t.match(bodyOf(changed), {
    external_config: { headers: { 'x-api-key': '[secret]', 'x-other': 'new' }, secret: '[secret]' },
  });
  const removed = { ...draft, external: { ...draft.external, secret: { value: '', isSet: false } } };
  t.match(bodyOf(removed), { external_config: { secret: null } });
});

t.test('A new header without a value is sent without one, so that the API can refuse it', async (t) => {
  const draft = emptyDraft('external');
  const headers = [{ key: 0, name: ' x-api-key ', value: '', isSet: false }];
  t.match(bodyOf({ ...draft, external: { ...draft.external, headers } }), {
    external_config: { headers: { 'x-api-key': '' } },
  });
});

t.test('Another template or threshold is a new version; another name or budget is none', async (t) => {
  const saved = emptyDraft('llm');
  t.equal(isNewVersion({ ...saved, name: 'Other', budget: '3' }, saved), false);
  t.equal(isNewVersion({ ...saved, prompt: 'Other' }, saved), true);
  t.equal(isNewVersion({ ...saved, threshold: '0.7' }, saved), true);
  t.equal(isNewVersion({ ...saved, max: '9' }, saved), false, 'a range that a boolean does not have');
});

t.test('A try-out sends the form as it stands, to the route of its kind', async (t) => {
  const llm = trialOf({ ...emptyDraft('llm'), model: 'gpt-4o', name: 'Polite' }, input);
  t.equal(llm.path, '/v1/evaluator/llm/test');
  t.match(llm.body, {
    evaluatorConfig: { evaluator_scoring_type: 'LLM-BOOLEAN', evaluator_llm_template: { model: 'gpt-4o' } },
    evaluatorName: 'Polite',
    testInput: input,
  });
  const python = trialOf({ ...emptyDraft('python'), code: 'c', cpuSeconds: '2' }, input);
  t.same(python, {
    path: '/v1/evaluator/python/test',
    body: { code: 'c', limits: { cpuSeconds: 2 }, testInput: input },
  });
  t.equal(trialOf(emptyDraft('external'), input).path, '/v1/evaluator/external/test');
});

t.test('An address that names no kind is that of a judge', async (t) => {
  t.equal(readKind('python'), 'python');
  t.equal(readKind('other'), 'llm');
  t.equal(readKind(undefined), 'llm');
});

t.test('A member of a template that the form does not know stays when it is saved', async (t) => {
  const judge = { model: 'm', prompt: 'p', later: { kept: true } };
  const shared = { ...none, name: 'One', daily_budget_usd: null, threshold: null };
  const saved = draftOf({ ...shared, scoring_type: 'LLM-BOOLEAN', llm_template: judge });
  t.same(bodyOf({ ...saved, prompt: 'q' }).llm_template, { ...judge, prompt: 'q' });
  const code = { code: 'c', later: 1 };
  const python = draftOf({ ...shared, scoring_type: 'PYTHON', code_template: code });
  t.same(bodyOf({ ...python, code: 'd' }).code_template, { code: 'd', later: 1 });
});

t.test('A try-out of code has its categories', async (t) => {
  const categories = [
    { key: 0, label: 'bad', score: '0' },
    { key: 1, label: 'good', score: '' },
  ];
  t.match(trialOf({ ...emptyDraft('python'), categories }, input).body, {
    categories: [{ label: 'bad', score: 0 }, { label: 'good' }],
  });
});

t.test('An example without a verdict is sent without one, so that the API can refuse it', async (t) => {
  const example = { key: 0, input: 'i', output: 'o', verdict: '', reasoning: null };
  const draft = { ...emptyDraft('llm'), examples: [example] };
  t.match(bodyOf(draft).llm_template, { examples: [{ input: 'i', output: 'o' }] });
});

t.test(
  'Empty fields of a jury are left to the API, and a judge without further models is alone',
  async (t) => {
    const judge = { ...emptyDraft('llm'), model: 'a' };
    const templateWith = (jury: typeof judge.jury) => bodyOf({ ...judge, jury }).llm_template;
    t.same(templateWith({ models: ' b \n\n c', rule: '', quorum: '' }), {
      model: 'a',
      prompt: judge.prompt,
      jury: { models: ['b', 'c'] },
    });
    t.same(templateWith({ models: ' \n', rule: 'mean', quorum: '3' }), { model: 'a', prompt: judge.prompt });
  },
);

t.test('A rubric sends what it asks by, and neither examples nor a jury', async (t) => {
  const draft = {
    ...emptyDraft('llm'),
    scoringType: 'LLM-RUBRIC' as const,
    criteria: [{ id: 'x', version: 2 }, { id: 'y' }],
    jury: { models: 'b', rule: '' as const, quorum: '' },
    examples: [{ key: 0, input: 'i', output: 'o', verdict: 'true', reasoning: null }],
  };
  t.same(bodyOf(draft).llm_template, {
    model: '',
    prompt: draft.prompt,
    criteria: [{ id: 'x', version: 2 }, { id: 'y' }],
  });
});

t.test('A try-out on a session names it', async (t) => {
  const draft = { ...emptyDraft('python'), code: 'c', scope: 'session' as const };
  t.same(trialOf(draft, { sessionId: 'chat' }).body, { code: 'c', testInput: { sessionId: 'chat' } });
  t.equal(bodyOf(draft).scope, 'session');
});
