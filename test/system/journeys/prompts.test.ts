/** From a stored prompt to everything that sees its inputs: the record, filters, judges and Python. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { startAssay, waitFor } from '../../support/assay.ts';
import { storePrompt } from '../../support/stored-prompt.ts';
import { scriptedProvider } from '../../support/world.ts';

t.setTimeout(120_000);

type Json = Record<string, unknown>;

t.test('the inputs of a call are in its record, match filters, and reach judges and Python', async (t) => {
  const provider = await scriptedProvider(t);
  const judged: string[] = [];
  provider.script(({ body }) => {
    const { model, messages } = JSON.parse(body.toString()) as { model: string; messages: object[] };
    if (model !== 'gpt-4o') return { kind: 'answer', text: 'Paris.' };
    judged.push(JSON.stringify(messages));
    const verdict = JSON.stringify({ reasoning: 'So it is.', score: true });
    return { kind: 'answer', text: null, toolCalls: [{ name: 'submit_verdict', arguments: verdict }] };
  });
  const assay = await startAssay({
    environment: { OPENAI_API_KEY: 'sk-operator', OPENAI_BASE_URL: provider.url },
  });
  t.teardown(() => assay.stop());
  const send = async (url: string, body?: object) => {
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${assay.key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
    return response;
  };
  const api = async <Data = Json>(path: string, body?: object): Promise<Data> =>
    ((await (await send(assay.apiUrl + path, body)).json()) as { data: Data }).data;

  const { url } = JSON.parse(readFileSync(`${assay.dataDir}/run/store.json`, 'utf8')) as { url: string };
  const sql = connectPostgres({ url, max: 1, applicationName: 'test', statementTimeoutMs: 10_000 });
  t.teardown(() => sql.end());
  const [organization] = await sql`select organization_id from assay.organizations`;
  const { promptId } = await storePrompt(sql, organization!.organization_id, {
    version: [2, 0],
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'The capital of {{country}}?' }] },
  });
  const polite = await api('/v1/evaluator/', {
    name: 'Fits',
    scoring_type: 'LLM-BOOLEAN',
    llm_template: {
      model: 'gpt-4o',
      prompt: 'Is {{output}} right for {{inputs.country}}, {{inputs.reader.age}}?',
    },
  });
  const seen = await api('/v1/evaluator/', {
    name: 'Seen',
    scoring_type: 'PYTHON',
    code_template: { code: 'def evaluate(input, output):\n  print(input)\n  return len(input)' },
  });
  for (const { id } of [polite, seen])
    await api(`/v1/evaluator/${id}/onlineEvaluators`, { config: { sampleRate: 100, propertyFilters: [] } });

  const inputs = { country: 'France "{{x}}"', reader: { age: 9 }, vip: true };
  const response = await send(`${assay.gatewayUrl}/v1/chat/completions`, { prompt_id: promptId, inputs });
  await response.arrayBuffer();
  const requestId = response.headers.get('service-request-id');

  await waitFor('two scores', async () => {
    const completed = await api<Json[]>('/v1/evaluation/query', { limit: 10, state: 'completed' });
    return completed.length === 2;
  });
  const expanded = 'The capital of France "{{x}}"?';
  const [byPython] = await api<Json[]>('/v1/evaluation/query', { limit: 1, evaluatorId: seen.id });
  t.match(byPython, { score: expanded.length, traces: `${expanded}\n` }, 'Python gets the expanded question');
  t.equal(judged.length, 1);
  t.match(judged[0], String.raw`right for \"France \\\"{{x}}\\\"\", 9?`, 'and the judge the inputs, as JSON');

  const query = (filter: object, more: object = {}) => api<Json[]>('/v1/request/query', { filter, ...more });
  const [record] = await query({ request: { prompt_id: { equals: promptId } } }, { includeInputs: true });
  t.match(record, { request_id: requestId, inputs, prompt_id: promptId, prompt_version: '2.0' });
  const [bare] = await query({ request: { prompt_version: { equals: '2.0' } } });
  t.notOk(Object.hasOwn(bare!, 'inputs'), 'inputs are only in a query that asks for them');
  const cases: [object, number][] = [
    [{ values: { country: { contains: 'FRANCE' } } }, 1],
    [{ values: { country: { equals: 'Spain' } } }, 0],
    [{ values: { country: { 'not-equals': 'Spain' } } }, 1],
    [{ values: { vip: { equals: true } } }, 1],
    [{ values: { age: { equals: 9 } } }, 0],
  ];
  for (const [filter, count] of cases) t.equal((await query(filter)).length, count, JSON.stringify(filter));
});
