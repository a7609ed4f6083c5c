/**
 * A gateway that is killed with calls under way: each of them is found as interrupted, with what was asked, and those
 * that had ended are found as they ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { RequestRecord } from '#core/contracts/record.ts';
import { type Assay, isReady, startAssay, waitFor } from '../../support/assay.ts';
import { defaultScript, type RecordedRequest } from '../../support/scripted-provider.ts';
import { databaseFor, scriptedProvider } from '../../support/world.ts';

type ChatBody = { model: string; user: string; stream: boolean; messages: unknown[] };

async function setUp(t: Test) {
  const database = await databaseFor(t);
  const provider = await scriptedProvider(t);
  const assay = await startAssay({
    environment: {
      DATABASE_URL: database.url,
      OPENAI_BASE_URL: provider.url,
      OPENAI_API_KEY: 'sk-test',
    },
  });
  t.teardown(() => assay.stop());
  return { assay, provider, sql: database.sql };
}

function chatBody(user: string, stream: boolean, content = `This is ${user}`): ChatBody {
  return { model: 'gpt-4o-mini', user, stream, messages: [{ role: 'user', content }] };
}

function chat(assay: Assay, body: ChatBody, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${assay.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${assay.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

async function callApi<T>(assay: Assay, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${assay.apiUrl}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${assay.key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { data, error } = (await response.json()) as { data: T; error: string | null };
  if (error !== null) throw new Error(error);
  return data;
}

const withStatus = (assay: Assay, status: number) =>
  callApi<RequestRecord[]>(assay, '/v1/request/query', {
    filter: { response: { status: { equals: status } } },
    limit: 100,
  });

/** Kills it, and waits for the one that the supervisor starts in its place. */
async function killGateway(assay: Assay): Promise<void> {
  const before = assay.pidOf('gateway');
  assay.kill('gateway');
  await waitFor(
    'the next gateway',
    async () => assay.pidOf('gateway') !== before && (await isReady(assay.gatewayUrl)),
  );
}

const bodyOf = (request: RecordedRequest) => JSON.parse(request.body.toString()) as ChatBody;

t.test(
  'after a kill of the gateway, calls under way are recorded as interrupted, ended ones as they ended',
  async (t) => {
    const { assay, provider, sql } = await setUp(t);
    provider.script((request) => {
      const { user, stream } = bodyOf(request);
      if (user.startsWith('ended')) return defaultScript(request);
      return stream ? { kind: 'stream', deltas: ['It ', 'begins'], ending: 'stall' } : { kind: 'hang' };
    });
    for (let index = 0; index < 6; index += 1) {
      await (await chat(assay, chatBody(`ended-${index}`, index % 2 === 0))).text();
    }
    const asked = new Map<string, ChatBody>();
    const failures: Promise<unknown>[] = [];
    const begin = (body: ChatBody, headers?: Record<string, string>) => {
      asked.set(body.user, body);
      failures.push(
        chat(assay, body, headers)
          .then((response) => response.text())
          .catch(() => 'cut'),
      );
    };
    for (let index = 0; index < 3; index += 1) {
      begin(chatBody(`plain-${index}`, false), { 'Service-Property-Plan': 'pro' });
      begin(chatBody(`stream-${index}`, true));
    }
    begin(chatBody('secret', false), { 'Service-Omit-Request': 'true' });
    begin(chatBody('large', false, 'x'.repeat(8_192)));
    begin(chatBody('just small enough', false, 'x'.repeat(8_000)));
    begin(chatBody('chosen', false), { 'Service-Request-Id': '6f1c1f6e-52d8-4f6b-9d0f-0a8f2f3f4a5b' });
    await waitFor('the provider to have them all', () => provider.requests.length === 6 + asked.size);

    await killGateway(assay);
    await Promise.all(failures);
    await waitFor('the records', async () => (await withStatus(assay, 0)).length >= asked.size);
    const interrupted = await withStatus(assay, 0);
    t.same(interrupted.map((record) => record.request_user_id).sort(), [...asked.keys()].sort(), 'each once');
    for (const record of interrupted) {
      const user = record.request_user_id!;
      const isBodyKept = user !== 'secret' && user !== 'large';
      t.match(record, {
        request_path: '/v1/chat/completions',
        request_properties: user.startsWith('plain') ? { Plan: 'pro' } : null,
        request_model: 'gpt-4o-mini',
        response_model: null,
        delay_ms: null,
        response_created_at: null,
        time_to_first_token: null,
        total_tokens: null,
        cost: null,
      });
      t.same(record.request_body, isBodyKept ? asked.get(user) : {});
      t.same(record.response_body, {});
      t.same(await callApi(assay, `/v1/request/${record.request_id}`), record);
    }
    t.ok(interrupted.some((record) => record.request_id === '6f1c1f6e-52d8-4f6b-9d0f-0a8f2f3f4a5b'));
    const rows = await sql`
    select distinct truncated, error_code from assay.requests where status = 0`;
    t.same([...rows], [{ truncated: true, error_code: 'interrupted' }]);
    t.equal((await withStatus(assay, 200)).length, 6);
    t.equal(await callApi(assay, '/v1/request/count/query', { filter: 'all' }), 6 + asked.size);
  },
);

t.test(
  'each call that reached its provider has one record, at whatever moment the gateway is killed',
  async (t) => {
    const { assay, provider, sql } = await setUp(t);
    const whole = new Set<string>();
    let isOver = false;
    const keepCalling = async (client: number) => {
      for (let call = 0; !isOver; call += 1) {
        const body = chatBody(`client${client}-${call}`, call % 2 === 0);
        try {
          const text = await (await chat(assay, body)).text();
          if (!body.stream || text.endsWith('data: [DONE]\n\n')) whole.add(body.user);
        } catch {
          await sleep(10);
        }
      }
    };
    const callers = Array.from({ length: 8 }, (_, client) => keepCalling(client));
    for (let kill = 0; kill < 3; kill += 1) {
      const before = whole.size;
      await waitFor('calls to be answered', () => whole.size > before + 50);
      await killGateway(assay);
    }
    isOver = true;
    await Promise.all(callers);

    const heard = new Set(provider.requests.map((request) => bodyOf(request).user));
    const stored = () =>
      sql<{ user_id: string; status: number }[]>`select user_id, status from assay.requests`;
    const missing = async () => {
      const users = new Set((await stored()).map((row) => row.user_id));
      return [...heard].filter((user) => !users.has(user));
    };
    await waitFor('all records', async () => (await missing()).length === 0).catch(() => {});
    t.same(await missing(), [], 'none is missing');
    const rows = await stored();
    t.equal(new Set(rows.map((row) => row.user_id)).size, rows.length, 'none is there twice');
    t.same(
      rows.filter((row) => row.status !== 200 && row.status !== 0 && row.status !== 499),
      [],
    );
    t.same(
      rows.filter((row) => whole.has(row.user_id) && row.status !== 200),
      [],
      'what was answered whole is recorded as answered',
    );
    t.ok(
      rows.some((row) => row.status === 0),
      'the kills came in the middle of calls',
    );
    t.same(await sql`select reason from assay.dead_letters`, []);
  },
);
