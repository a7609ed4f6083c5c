/** Experiments over the API: what is refused, and what another organization sees. Their calls are tested over the whole system. */
import t from 'tap';
import { startTestApi } from '../../../support/api.ts';

const api = await startTestApi(t);

/** Calls as one of the two organizations. */
const as = (key: string) => ({
  send: (method: string, path: string, body?: object) =>
    api.call(path, { method, key, ...(body !== undefined && { body }) }),
  async call(method: string, path: string, body?: object): Promise<Json> {
    const { status, body: answer } = await this.send(method, path, body);
    if (answer.error !== null) throw new Error(`${method} ${path}: ${status} ${answer.error}`);
    return answer.data as Json;
  },
});
// biome-ignore lint/suspicious/noExplicitAny: answers are compared with patterns
type Json = any;
const mine = as(api.own.key);
const other = as(api.other.key);

async function dataset(items = 3): Promise<string> {
  const { id } = await mine.call('POST', '/v1/dataset', { name: crypto.randomUUID() });
  if (items > 0)
    await mine.call('POST', `/v1/dataset/${id}/items`, {
      items: Array.from({ length: items }, (_, index) => ({
        externalId: `item ${index}`,
        request: { model: 'gpt-4o', messages: [{ role: 'user', content: `Question ${index}` }] },
        split: index === 0 ? 'test' : 'train',
      })),
    });
  return id;
}

const replay = { name: 'Replay', target: { kind: 'replay' } };

t.test('an experiment has a run for each item of the split and each repetition', async (t) => {
  const datasetId = await dataset(5);
  const made = await mine.call('POST', '/v1/experiment', {
    ...replay,
    datasetId,
    split: 'train',
    repetitions: 3,
    git: { sha: 'abc' },
  });
  t.match(made, {
    state: 'running',
    runs: 12,
    pending: 12,
    dataset_version: 1,
    split: 'train',
    git: { sha: 'abc' },
    cost_usd: 0,
    max_cost_usd: null,
  });
  const { runs, next } = await mine.call('POST', `/v1/experiment/${made.id}/runs`, { limit: 5 });
  t.equal(runs.length, 5);
  const rest = await mine.call('POST', `/v1/experiment/${made.id}/runs`, { limit: 100, after: next });
  t.same(
    [...runs, ...rest.runs].map(({ position }: { position: number }) => position),
    Array.from({ length: 12 }, (_, index) => index + 1),
  );
  t.match(await mine.call('POST', '/v1/experiment/query', { datasetId }), {
    experiments: [{ id: made.id }],
    next: null,
  });
});

t.test(
  'recorded answers are an experiment that is completed at once; items without one are skipped',
  async (t) => {
    const made = await mine.call('POST', '/v1/experiment', {
      name: 'Recorded',
      datasetId: await dataset(2),
      target: { kind: 'recorded' },
    });
    t.match(made, { state: 'completed', runs: 2, completed: 0, skipped: 2, cost_usd: 0 });
  },
);

t.test('an experiment is paused, resumed and cancelled; what it cannot be says its state', async (t) => {
  const { id } = await mine.call('POST', '/v1/experiment', { ...replay, datasetId: await dataset() });
  t.match(await mine.call('POST', `/v1/experiment/${id}/pause`), { state: 'paused' });
  t.match(
    await mine.call('POST', `/v1/experiment/${id}/pause`),
    { state: 'paused' },
    'again changes nothing',
  );
  t.match(await mine.call('POST', `/v1/experiment/${id}/resume`), { state: 'running' });
  t.match(await mine.call('POST', `/v1/experiment/${id}/cancel`), { state: 'cancelled', pending: 3 });
  const refused = await mine.send('POST', `/v1/experiment/${id}/resume`);
  t.equal(refused.status, 409);
  t.match(refused.body, { error: 'The experiment is cancelled: only one that is paused can be resumed' });
});

t.test('what cannot be an experiment is refused with the reason', async (t) => {
  const datasetId = await dataset();
  const refused = async (body: object, status: number, error: RegExp) => {
    const answer = await mine.send('POST', '/v1/experiment', body);
    t.match([answer.status, answer.body], [status, { data: null, error }]);
  };
  const unknown = '00000000-0000-4000-8000-0000000000ff';
  await refused({ ...replay, datasetId: unknown }, 404, /no dataset/);
  await refused({ ...replay, datasetId, evaluatorIds: [unknown] }, 404, /no evaluator/);
  await refused(
    { ...replay, datasetId, datasetVersion: 2 },
    400,
    /datasetVersion must be from 1 to 1, but is 2/,
  );
  await refused({ ...replay, datasetId, split: 'none' }, 400, /no items in this version and split/);
  await refused({ ...replay, datasetId: await dataset(0) }, 400, /no items yet/);
  await refused({ ...replay, datasetId, repetitions: 21 }, 400, /repetitions/);
  await refused(
    { ...replay, datasetId, maxCost: 0.0000000001 },
    400,
    /maxCost must have at most nine decimals/,
  );
  await refused({ ...replay, datasetId, target: { kind: 'other' } }, 400, /target/);
  const both = { kind: 'prompt', promptId: unknown, versionId: unknown, environment: 'production' };
  await refused({ ...replay, datasetId, target: both }, 400, /exclude each other/);
});

t.test('another organization finds nothing of it and changes nothing', async (t) => {
  const datasetId = await dataset();
  const { id } = await mine.call('POST', '/v1/experiment', { ...replay, datasetId });
  const calls: [method: string, path: string, body?: object][] = [
    ['GET', `/v1/experiment/${id}`],
    ['POST', `/v1/experiment/${id}/runs`, {}],
    ['POST', `/v1/experiment/${id}/pause`],
    ['POST', `/v1/experiment/${id}/cancel`],
    ['POST', '/v1/experiment', { ...replay, datasetId }],
  ];
  for (const [method, path, body] of calls) {
    t.equal((await other.send(method, path, body)).status, 404, `${method} ${path}`);
  }
  t.same(await other.call('POST', '/v1/experiment/query', {}), { experiments: [], next: null });
  t.match(await mine.call('GET', `/v1/experiment/${id}`), { state: 'running' });
});
