/** The forms of judges that are more than a question about one answer: of sessions, juries, rubrics, pairs. */
import { waitFor } from '../../../../support/assay.ts';
import { comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import { callApiOf } from '../evaluators/call-api.ts';

const HOSTILE = '<img src=x onerror=alert(1)> trip';

const said = (role: string, content: string) => ({ role, content });
const TURN = {
  session_id: 'chat-1',
  session_name: HOSTILE,
  request_text: JSON.stringify({ model: 'gpt-4o', messages: [said('user', 'Where is my order?')] }),
  response_text: JSON.stringify({ choices: [{ message: said('assistant', 'On its way.') }] }),
};

story(
  'A judge of sessions is written, tried out on a session, created, and scores it after a silence',
  async ({ t, page, organization, product, callPath }) => {
    const { provider } = await callPath();
    provider.script(({ body }) => {
      const { tools } = JSON.parse(body.toString()) as { tools: { function: { name: string } }[] };
      const verdict = JSON.stringify({ reasoning: 'The order was found.', score: true });
      return {
        kind: 'answer',
        text: null,
        toolCalls: [{ name: tools[0]!.function.name, arguments: verdict }],
      };
    });
    await organization.insert([TURN]);
    await page.goto('/evaluators/new');
    await page.getByLabel('Name', { exact: true }).fill('Solved');
    await page.getByLabel('Judge model').fill('gpt-4o-mini');
    await page.getByLabel('It scores').selectOption('session');
    t.match(
      await page.getByLabel('Prompt').inputValue(),
      /\{\{conversation\}\}/,
      'the untouched prompt follows',
    );
    await page.getByLabel('Newest sessions').selectOption('chat-1');
    await page.keyboard.press('Control+Enter');
    const tried = page.getByRole('region', { name: 'Try-out' });
    await tried.getByRole('heading', { name: 'Reasoning' }).waitFor();
    t.match(
      await tried.textContent(),
      /\{"role":"user","text":"Where is my order\?"\}/,
      'what the judge saw',
    );

    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Scores sessions').waitFor();
    await page.getByLabel('Share of the sessions, in percent').fill('100');
    t.equal(await page.getByLabel('Scored after a silence of so many seconds').inputValue(), '900');
    t.equal(await page.getByLabel('Probed').count(), 0);
    await page.getByLabel('Scored after a silence of so many seconds').fill('60');
    await page.getByRole('button', { name: 'Attach' }).click();
    await page.getByRole('row').getByText('100%').waitFor();
    const callApi = callApiOf(product, organization);
    const id = /evaluators\/([0-9a-f-]{36})/.exec(page.url())![1]!;
    t.match(await callApi('GET', `/v1/evaluator/${id}/onlineEvaluators`), [{ config: { idleSeconds: 60 } }]);

    await page.getByRole('link', { name: 'Definition' }).click();
    t.ok(await page.getByLabel('It scores').isDisabled(), 'the scope of a saved evaluator stays');
    await callApi('POST', `/v1/evaluator/${id}/run`, { filter: 'all' });
    await waitFor('the score of the session', async () => {
      const { session } = await callApi<{ session: { scores: object } }>('GET', '/v1/session/chat-1');
      return Object.keys(session.scores).length > 0;
    });
    await page.goto('/sessions/chat-1');
    await page.getByRole('heading', { name: HOSTILE }).waitFor();
    await comesToMatch(t, () => page.locator('dl').first().textContent(), /solved1/);
  },
);

story(
  'A jury, a rubric and a judge of pairs are made in the form, and opened as they are',
  async ({ t, page, organization, product }) => {
    const callApi = callApiOf(product, organization);
    const judge = {
      scoring_type: 'LLM-BOOLEAN',
      llm_template: { model: 'gpt-4o-mini', prompt: 'Is it good?' },
    };
    for (const name of [HOSTILE, 'Correct']) await callApi('POST', '/v1/evaluator', { name, ...judge });
    const withVariables = { ...judge.llm_template, prompt: 'Is {{output}} good?' };
    await callApi('POST', '/v1/evaluator', { name: 'With variables', ...judge, llm_template: withVariables });
    const create = async (name: string) => {
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByLabel('Judge model').fill('gpt-4o');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('heading', { name }).waitFor();
      await page.getByRole('link', { name: 'Definition' }).click();
      const id = /evaluators\/([0-9a-f-]{36})/.exec(page.url())![1]!;
      const { llm_template } = (await callApi('GET', `/v1/evaluator/${id}`)) as { llm_template: unknown };
      return llm_template;
    };

    await page.goto('/evaluators/new');
    await page.getByText('Jury', { exact: true }).click();
    await page.getByLabel('Further models, one a line').fill('gpt-4o-mini\no3-mini');
    await page.getByLabel('Members that must answer').fill('3');
    t.match(await create('Three judges'), {
      jury: { models: ['gpt-4o-mini', 'o3-mini'], rule: 'majority', quorum: 3 },
    });
    t.equal(await page.getByLabel('Further models, one a line').inputValue(), 'gpt-4o-mini\no3-mini');
    await page.getByText('No new version').waitFor();

    await page.goto('/evaluators/new');
    await page.getByLabel('It answers with').selectOption('LLM-RUBRIC');
    const criteria = page.getByRole('group', { name: 'Criteria' });
    await criteria.getByLabel('Correct').check();
    await criteria.getByLabel(HOSTILE).check();
    t.equal(await criteria.getByRole('checkbox').count(), 2, 'those with variables cannot be criteria');
    t.equal(await page.getByRole('button', { name: 'Try it out' }).count(), 0);
    t.match(await create('Both'), { criteria: [{ version: 1 }, { version: 1 }] });
    t.ok(await criteria.getByLabel('Correct').isChecked());

    await page.goto('/evaluators/new');
    await page.getByLabel('It answers with').selectOption('LLM-PAIRWISE');
    t.equal(await page.getByLabel('It scores').count(), 0);
    t.match(await create('Better'), { prompt: 'Which answer is more helpful?' });
    t.equal(await page.getByLabel('It answers with').inputValue(), 'LLM-PAIRWISE');
  },
);

accessibleStory('The form of a rubric is accessible', async ({ page, organization, product }) => {
  const callApi = callApiOf(product, organization);
  const judge = {
    scoring_type: 'LLM-BOOLEAN',
    llm_template: { model: 'gpt-4o-mini', prompt: 'Is it good?' },
  };
  await callApi('POST', '/v1/evaluator', { name: 'Correct', ...judge });
  await page.goto('/evaluators/new');
  await page.getByText('Jury', { exact: true }).click();
  await page.getByLabel('Further models, one a line').waitFor();
  await page.getByLabel('It answers with').selectOption('LLM-RUBRIC');
  await page.getByLabel('Correct').waitFor();
});
