/**
 * From an answer to its scores, as a team uses it: evaluators are made over the API, calls are made through the gateway,
 * and each ends in exactly one outcome. Under Node and Deno.
 */
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { signInternalCall } from '#platform/secrets/mod.ts';
import { type Assay, type Runtime, startAssay, waitFor } from '../../support/assay.ts';
import type { Behaviour, ScriptedProvider } from '../../support/scripted-provider.ts';
import { scriptedProvider } from '../../support/world.ts';

const JUDGE_MODEL = 'gpt-4o';
/** Client calls in the proof that judges are not judged. */
const CALLS = 500;
const ALL = { config: { sampleRate: 100, propertyFilters: [] } };

type Json = Record<string, unknown>;

function clientOf(assay: Assay, key: string) {
  return async <Data = Json>(method: string, path: string, body?: unknown): Promise<Data> => {
    const response = await fetch(assay.apiUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { data, error } = (await response.json()) as { data: Data; error: string | null };
    if (error !== null) throw new Error(`${method} ${path}: ${response.status} ${error}`);
    return data;
  };
}

/** Answers judges with a verdict, and everybody else with a sentence. */
function scriptJudge(provider: ScriptedProvider, score: (prompt: string) => unknown): () => number {
  let judged = 0;
  provider.script((request): Behaviour => {
    const body = JSON.parse(request.body.toString()) as { model: string; messages: { content: string }[] };
    if (body.model !== JUDGE_MODEL) return { kind: 'answer', text: 'A polite answer.' };
    judged += 1;
    const verdict = JSON.stringify({
      reasoning: 'As the rubric says.',
      score: score(JSON.stringify(body.messages)),
    });
    return {
      kind: 'answer',
      text: null,
      toolCalls: [{ name: 'submit_verdict', arguments: verdict }],
    };
  });
  return () => judged;
}

async function setUp(t: Test, runtime: Runtime) {
  const provider = await scriptedProvider(t);
  const assay = await startAssay({
    runtime,
    environment: { OPENAI_API_KEY: 'sk-operator', OPENAI_BASE_URL: provider.url },
  });
  t.teardown(() => assay.stop());
  const api = clientOf(assay, assay.key!);
  const call = async (content: string, headers: Record<string, string> = {}): Promise<string> => {
    const response = await fetch(`${assay.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${assay.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
    });
    if (!response.ok) throw new Error(await response.text());
    await response.arrayBuffer();
    return response.headers.get('service-request-id')!;
  };
  const evaluations = (filter: Json) =>
    api<Json[]>('POST', '/v1/evaluation/query', { limit: 100, ...filter });
  const done = async (evaluatorId: unknown, count: number) => {
    await waitFor(
      `${count} evaluations`,
      async () => (await evaluations({ evaluatorId, state: 'completed' })).length >= count,
      60_000,
    );
  };
  return { provider, assay, api, call, evaluations, done };
}

for (const runtime of ['node', 'deno'] as const) {
  t.test(`answers are scored by Python and by a judge, under ${runtime}`, async (t) => {
    const { provider, api, call, evaluations, done } = await setUp(t, runtime);
    const judged = scriptJudge(provider, () => 4.5);

    await t.rejects(
      api('POST', '/v1/evaluator/', {
        name: 'Broken',
        scoring_type: 'PYTHON',
        code_template: { code: 'def evaluate(input, output)\n  return 1' },
      }),
      /400 .*expected ':'.*line 1/,
      'code that does not compile is refused, with what Python says',
    );
    const length = await api('POST', '/v1/evaluator/', {
      name: 'Answer length',
      scoring_type: 'PYTHON',
      code_template: { code: 'def evaluate(input, output):\n  print(input)\n  return len(output)' },
    });
    const helpful = await api('POST', '/v1/evaluator/', {
      name: 'Helpful?',
      scoring_type: 'LLM-RANGE',
      llm_template: { model: JUDGE_MODEL, prompt: 'How helpful is this answer?', min: 1, max: 5 },
    });
    t.same(
      await api('POST', '/v1/evaluator/python/test', {
        code: 'def evaluate(input, output):\n  print("seen")\n  return 0.5',
        testInput: { inputBody: '"in"', outputBody: '"out"' },
      }).then(({ output, traces }) => ({ output, traces })),
      { output: 0.5, traces: 'seen\n' },
    );
    for (const { id } of [length, helpful]) await api('POST', `/v1/evaluator/${id}/onlineEvaluators`, ALL);

    const requestId = await call('What is the capital of France?');
    await done(length.id, 1);
    await done(helpful.id, 1);
    const record = await api('GET', `/v1/request/${requestId}`);
    t.same(record.scores, { answer_length: 'A polite answer.'.length, helpful_: 4.5 });
    const [byPython] = await evaluations({ evaluatorId: length.id });
    t.match(byPython, { state: 'completed', attempts: 1, traces: 'What is the capital of France?\n' });
    const [byJudge] = await evaluations({ evaluatorId: helpful.id });
    t.match(byJudge, { state: 'completed', attempts: 1, score: 4.5, reasoning: 'As the rubric says.' });
    t.equal(judged(), 1);
    t.match(await api('GET', `/v1/evaluator/${helpful.id}/stats`), { scores: { mean: 4.5 } });
    t.equal(
      (await api<unknown[]>('POST', '/v1/request/query', { filter: 'all' })).length,
      1,
      'judges are hidden',
    );
  });
}

t.test('judges are called once for each answer, and never for judge calls', async (t) => {
  const { provider, api, call, done, assay } = await setUp(t, 'node');
  const { url } = JSON.parse(readFileSync(`${assay.dataDir}/run/store.json`, 'utf8')) as { url: string };
  const sql = connectPostgres({ url, max: 1, applicationName: 'test', statementTimeoutMs: 10_000 });
  t.teardown(() => sql.end());
  // The free tier does not allow so many records in a few seconds.
  await sql`update assay.organizations set tier = 'enterprise'`;
  const judged = scriptJudge(provider, () => true);
  const polite = await api('POST', '/v1/evaluator/', {
    name: 'polite',
    scoring_type: 'LLM-BOOLEAN',
    llm_template: { model: JUDGE_MODEL, prompt: 'Is this answer polite?' },
  });
  await api('POST', `/v1/evaluator/${polite.id}/onlineEvaluators`, ALL);
  const internal = { organizationId: 'a', evaluationId: 'b' };
  const headers: Record<string, string>[] = [
    {},
    { 'Service-Internal': 'WyJhIiwiYiIsMV0.Zm9yZ2Vk' },
    { 'Service-Internal': signInternalCall('not the secret', internal, Date.now()) },
    { 'service-internal': '' },
  ];
  const ids: string[] = [];
  const caller = async () => {
    for (let index = begun++; index < CALLS; index = begun++) {
      ids.push(await call(`call ${index}`, headers[index % headers.length]));
    }
  };
  let begun = 0;
  await Promise.all(Array.from({ length: 16 }, caller));
  await done(polite.id, 100);
  await waitFor(
    'all evaluations and all records',
    async () => {
      const [row] = await sql`
      select (select count(*) from assay.evaluations where state = 'completed')::int as evaluations,
             (select count(*) from assay.requests)::int as records`;
      return row!.evaluations === ids.length && row!.records === 2 * ids.length;
    },
    60_000,
  );
  t.equal(judged(), ids.length);
  const [row] = await sql`
    select count(*)::int as evaluations, sum(judge_calls)::int as calls, sum(cost_nano)::int8 as cost,
           (select count(*)::int from assay.requests where source = 'evaluator') as judged,
           (select sum(cost_nano)::int8 from assay.requests where source = 'evaluator') as recorded,
           (select sum(cost_nano)::int8 from assay.evaluation_spend) as spent,
           (select count(*)::int from assay.request_scores) as scores
      from assay.evaluations`;
  t.match(row, { evaluations: CALLS, calls: CALLS, judged: CALLS, scores: CALLS });
  t.equal(row!.cost, row!.recorded, 'what judges cost is on their evaluations');
  t.equal(row!.spent, row!.recorded);
  t.ok(Number(row!.cost) > 0);
});

t.test('a run scores earlier requests, and a resumed evaluator continues where it stopped', async (t) => {
  const { provider, api, call, evaluations, done } = await setUp(t, 'node');
  scriptJudge(provider, () => true);
  for (let index = 0; index < 5; index += 1) await call(`before ${index}`);
  const length = await api('POST', '/v1/evaluator/', {
    name: 'length',
    scoring_type: 'PYTHON',
    code_template: { code: 'def evaluate(input, output):\n  return len(input)' },
  });
  await waitFor('the records', async () => {
    const { matching } = await api<{ matching: number }>('POST', `/v1/evaluator/${length.id}/run`, {
      filter: 'all',
      dryRun: true,
    });
    return matching === 5;
  });
  const run = await api('POST', `/v1/evaluator/${length.id}/run`, { filter: 'all', limit: 3 });
  await done(length.id, 3);
  await waitFor('the run to be over', async () => {
    const state = await api('GET', `/v1/evaluator/${length.id}/run/${run.id}`);
    return state.state === 'completed' && state.completed === 3;
  });

  provider.script(() => ({ kind: 'error', status: 401 }));
  const judge = await api('POST', '/v1/evaluator/', {
    name: 'judge',
    scoring_type: 'LLM-BOOLEAN',
    llm_template: { model: JUDGE_MODEL, prompt: 'Is this answer polite?' },
  });
  await api('POST', `/v1/evaluator/${judge.id}/run`, { filter: 'all' });
  await waitFor('the evaluator to pause', async () => {
    const { paused } = await api<{ paused: { reason: string } | null }>('GET', `/v1/evaluator/${judge.id}`);
    return paused?.reason === 'auth';
  });
  scriptJudge(provider, () => true);
  await api('POST', `/v1/evaluator/${judge.id}/resume`, {});
  await done(judge.id, 5);
  t.equal((await evaluations({ evaluatorId: judge.id })).length, 5);
});
