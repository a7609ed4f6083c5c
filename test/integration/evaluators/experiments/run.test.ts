/** The state in which a reply of the gateway leaves a run. */
import t from 'tap';
import type { ExperimentJob } from '../../../../evaluators/experiments/job.ts';
import { runJob } from '../../../../evaluators/experiments/run.ts';
import type { GatewayCall, GatewayReply } from '../../../../evaluators/gateway-client.ts';

const job: ExperimentJob = {
  experimentId: '00000000-0000-4000-8000-00000000e001',
  itemId: 'item',
  repetition: 1,
  organizationId: '00000000-0000-4000-8000-000000000001',
  claim: 1,
  attempt: 1,
  callId: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  target: { kind: 'model', model: 'gpt-4o-mini' },
  usesCache: false,
  item: { request: { messages: [{ role: 'user', content: 'Hello' }] }, metadata: {} },
};

function run(reply: object, more: Partial<ExperimentJob> = {}) {
  const calls: GatewayCall[] = [];
  const client = {
    send: async (call: GatewayCall) => {
      calls.push(call);
      return { requestId: null, latencyMs: 1, ...reply } as GatewayReply;
    },
  };
  const internalHeaders = () => ({ 'service-internal': 'signed' });
  return runJob({ ...job, ...more }, { client, internalHeaders }).then((result) => ({ result, calls }));
}

const answer = (status: number, message = '', retryAfterMs: number | null = null) => ({
  kind: 'answer',
  status,
  text: JSON.stringify({ error: { message, code: null } }),
  retryAfterMs,
  routedModel: null,
});

t.test('a call names its request, and may use the cache only where the experiment does', async (t) => {
  const { result, calls } = await run(answer(200));
  t.match(result, { state: 'completed', pause: null });
  t.same(calls[0]!.headers, { 'service-internal': 'signed', 'service-request-id': job.callId });
  const cached = await run(answer(200), { usesCache: true });
  t.equal(cached.calls[0]!.headers['service-cache-enabled'], 'true');
});

t.test('what may pass is tried again later, and longer each time, until the fifth attempt', async (t) => {
  for (const status of [408, 429, 500, 503, 529]) {
    t.match((await run(answer(status))).result, { state: 'pending', dueInMs: 5_000, pause: null });
  }
  t.match((await run(answer(429, 'Slow down', 60_000))).result, { dueInMs: 60_000 });
  t.match((await run({ kind: 'unreachable' }, { attempt: 3 })).result, { state: 'pending', dueInMs: 80_000 });
  t.match((await run({ kind: 'timeout' }, { attempt: 5 })).result, { state: 'error', errorCode: 'timeout' });
});

t.test(
  'what every further call would meet pauses the experiment, and what is wrong with the item is its error',
  async (t) => {
    for (const status of [401, 402, 403, 404]) {
      t.match((await run(answer(status, 'Why'))).result, {
        state: 'pending',
        pause: /Why/,
        isUncounted: true,
      });
    }
    for (const status of [400, 413, 422]) {
      t.match((await run(answer(status, 'Why'))).result, {
        state: 'error',
        errorMessage: /Why/,
        pause: null,
      });
    }
  },
);

t.test('an item that cannot be asked is skipped without a call', async (t) => {
  const erased = await run(answer(200), { item: null });
  t.match(erased, { result: { state: 'skipped', errorCode: 'item_erased', isUncounted: true }, calls: [] });
  const empty = await run(answer(200), { item: { request: {}, metadata: {} } });
  t.match(empty, { result: { state: 'skipped', errorCode: 'no_messages', isUncounted: true }, calls: [] });
});
