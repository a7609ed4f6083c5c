/**
 * Limits and the cache with everything running as an operator runs it, two gateways on one port, under both runtimes: an
 * unmodified client is let in as often as its policy says, is told at once when it is over, and an answer that is stored
 * is found again.
 */
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import type { RequestRecord } from '#core/contracts/record.ts';
import {
  type Assay,
  isAlive,
  isReady,
  type Runtime,
  runMain,
  startAssay,
  waitFor,
} from '../../support/assay.ts';
import type { TestDatabase } from '../../support/postgres.ts';
import type { ScriptedProvider } from '../../support/scripted-provider.ts';
import { databaseFor, scriptedProvider } from '../../support/world.ts';

const MODEL = 'gpt-4o-mini';
const ask = (content: string) => ({ model: MODEL, messages: [{ role: 'user' as const, content }] });

type World = { assay: Assay; provider: ScriptedProvider; database: TestDatabase };

async function startWorld(t: Test, runtime: Runtime): Promise<World> {
  const database = await databaseFor(t);
  const provider = await scriptedProvider(t);
  const assay = await startAssay({
    runtime,
    environment: {
      DATABASE_URL: database.url,
      GATEWAYS: '2',
      OPENAI_BASE_URL: provider.url,
      OPENAI_API_KEY: 'sk-operator',
      SHUTDOWN_TIMEOUT_MS: '1000',
    },
  });
  t.teardown(() => assay.stop());
  return { assay, provider, database };
}

/** `keys create` as an operator types it, for an organization of its own. */
async function keysCreate({ database }: World, ...options: string[]) {
  const parameters = ['keys', 'create', '--scopes', 'gateway,read', ...options];
  const run = runMain(parameters, { DATABASE_URL: database.url });
  const { code } = await run.ended;
  return { code, key: run.stdout().split('\n')[0] ?? '', stderr: run.stderr() };
}

async function newKey(world: World, ...options: string[]): Promise<string> {
  const { code, key, stderr } = await keysCreate(world, ...options);
  if (code !== 0) throw new Error(stderr);
  return key;
}

function clientOf({ assay }: World, apiKey: string, defaultHeaders: Record<string, string> = {}): OpenAI {
  return new OpenAI({ baseURL: `${assay.gatewayUrl}/v1`, apiKey, defaultHeaders });
}

/** The most that a query returns at once. */
const PAGE = 100;

async function queryPage({ assay }: World, key: string, body: object): Promise<RequestRecord[]> {
  const response = await fetch(`${assay.apiUrl}/v1/request/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ limit: PAGE, ...body }),
  });
  const { data, error } = (await response.json()) as { data: RequestRecord[]; error: string | null };
  if (error !== null) throw new Error(error);
  return data;
}

/** Returns all records that a query finds. */
async function query(world: World, key: string, body: object): Promise<RequestRecord[]> {
  const records: RequestRecord[] = [];
  for (;;) {
    const page = await queryPage(world, key, { ...body, offset: records.length });
    records.push(...page);
    if (page.length < PAGE) return records;
  }
}

/** The records that a query finds, once there are `count`. */
async function found(world: World, key: string, count: number, body: object): Promise<RequestRecord[]> {
  await waitFor(`${count} records`, async () => (await query(world, key, body)).length >= count);
  return query(world, key, body);
}

/** `kill -9` of every gateway; resolves when the supervisor has put others in their place. */
async function killGateways({ assay }: World): Promise<void> {
  const pids = () =>
    [...assay.stderr().matchAll(/"started":"gateway","process":(\d+)/g)].map(([, pid]) => Number(pid));
  const before = pids();
  const alive = before.filter(isAlive);
  for (const pid of alive) process.kill(pid, 'SIGKILL');
  await waitFor(
    'the next gateways',
    async () => pids().length === before.length + alive.length && (await isReady(assay.gatewayUrl)),
  );
}

/** The rest of the quota after a call; -1: the client raised its rate-limit error. */
async function call(client: OpenAI, user: string): Promise<number> {
  const headers = { 'Service-User-Id': user };
  try {
    const { response } = await client.chat.completions.create(ask('Hello'), { headers }).withResponse();
    return Number(response.headers.get('service-ratelimit-remaining'));
  } catch (error) {
    if (error instanceof OpenAI.RateLimitError && error.code === 'rate_limit_exceeded') return -1;
    throw error;
  }
}

async function keyPolicy(t: Test, world: World): Promise<void> {
  const key = await newKey(world, '--organization', 'acme', '--rate-limit-policy', '3;w=3600;s=user');
  const client = clientOf(world, key);
  t.same(
    [
      await call(client, 'ann'),
      await call(client, 'ann'),
      await call(client, 'bob'),
      await call(client, 'ann'),
    ],
    [2, 1, 2, 0],
  );
  t.equal(await call(client, 'ann'), -1);
  const wider = clientOf(world, key, { 'Service-RateLimit-Policy': '5;w=3600;s=user' });
  t.equal(await call(wider, 'ann'), -1, 'a header does not lift the policy of its key');

  await killGateways(world);
  t.equal(await call(client, 'ann'), -1, 'what was used is used, though both gateways were killed');
  t.equal(await call(client, 'bob'), 1);

  const refused = await found(world, key, 3, { filter: { response: { status: { equals: 429 } } } });
  t.equal(refused.length, 3, 'each refusal is one record: the client did not try again');
  t.match(refused[0], {
    response_status: 429,
    cost: null,
    response_body: { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } },
  });
}

async function badKeyPolicy(t: Test, world: World): Promise<void> {
  const { code, key, stderr } = await keysCreate(
    world,
    '--organization',
    'acme',
    '--rate-limit-policy',
    '100;w=59',
  );
  t.not(code, 0);
  t.equal(key, '');
  t.match(stderr, 'window "59" must be a whole number of seconds from 60 to 31536000');
}

async function exactAmongProcesses(t: Test, world: World): Promise<void> {
  const quota = 40;
  const burst = async (key: string, calls: number) => {
    const answers = await Promise.all(
      Array.from({ length: calls }, async () => {
        const answer = await fetch(`${world.assay.gatewayUrl}/v1/chat/completions`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            // A year: credit that a gateway holds dies with a sixtieth of the window, which for an hour is every minute.
            'service-ratelimit-policy': `${quota};w=31536000`,
          },
          body: JSON.stringify(ask('Hello')),
        });
        await answer.arrayBuffer();
        return answer;
      }),
    );
    return {
      passed: answers.filter(({ status }) => status === 200).length,
      refused: answers.filter(({ status }) => status === 429).length,
      isDegraded: answers.some(({ headers }) => headers.has('service-ratelimit-degraded')),
    };
  };
  const round = async () => {
    const key = await newKey(world, '--organization', 'many', '--tier', 'enterprise');
    const before = world.provider.requests.length;
    let { passed, refused, isDegraded } = await burst(key, 150);
    t.equal(passed + refused, 150, 'each is admitted or refused');
    // A gateway that got fewer calls than it had credit for gives the rest back: until then it counts as used.
    await waitFor('all credit to be used', async () => {
      if (passed >= quota) return true;
      const more = await burst(key, 1);
      passed += more.passed;
      isDegraded ||= more.isDegraded;
      return passed >= quota;
    });
    const after = await burst(key, 20);
    isDegraded ||= after.isDegraded;
    passed += after.passed;
    return { passed, called: world.provider.requests.length - before, isDegraded };
  };
  // On a machine that has much else to do the counters may seem to be away, and the answers say so.
  let last = await round();
  for (let more = 0; last.isDegraded && more < 4; more += 1) last = await round();
  t.same(last, { passed: quota, called: quota, isDegraded: false });
}

async function killedWithMoneyReserved(t: Test, world: World): Promise<void> {
  const key = await newKey(world, '--organization', 'money', '--rate-limit-policy', '0.05;w=3600;u=cents');
  const client = new OpenAI({ baseURL: `${world.assay.gatewayUrl}/v1`, apiKey: key, maxRetries: 0 });
  const before = world.provider.requests.length;
  // 0.06 cents, and never answered.
  const lost = client.chat.completions.create({ ...ask('/hang'), max_tokens: 1_000 }).catch((error) => error);
  await waitFor('the call to be under way', () => world.provider.requests.length > before);
  await killGateways(world);
  t.type(await lost, OpenAI.APIConnectionError);
  t.equal(await call(client, 'ann'), -1, 'what it would have cost counts: it may have been spent');
}

async function cached(t: Test, world: World): Promise<void> {
  const key = await newKey(world, '--organization', 'cached');
  const client = clientOf(world, key, { 'Service-Cache-Enabled': 'true' });
  const before = world.provider.requests.length;
  const ids: (string | null)[] = [];
  const texts: (string | null | undefined)[] = [];
  // An answer is soon on its way to the other gateway; until it is there, that one asks for itself.
  await waitFor('a hit', async () => {
    const { data, response } = await client.chat.completions.create(ask('Once')).withResponse();
    ids.push(response.headers.get('service-request-id'));
    texts.push(data.choices[0]?.message.content);
    return response.headers.get('service-cache') === 'HIT';
  });
  t.equal(new Set(texts).size, 1);
  t.equal(world.provider.requests.length - before, ids.length - 1);
  await found(world, key, ids.length, { filter: 'all' });
  const hits = await query(world, key, { filter: 'all', isCached: true });
  t.match(hits, [{ request_id: ids.at(-1), cost: 0, response_status: 200 }]);
  t.equal(hits.length, 1);
}

const LOGS_PER_WINDOW = 20;
const LOG_WINDOW_MS = 5_000;
/** More than may be logged within a minute, so that a slow machine makes too many calls all the same. */
const CHATTY_CALLS = 300;

async function loggingRate(t: Test, world: World): Promise<void> {
  const key = await newKey(world, '--organization', 'chatty', '--logs-per-5s', `${LOGS_PER_WINDOW}`);
  const client = clientOf(world, key);
  const begunAt = performance.now();
  const responses = await Promise.all(
    Array.from({ length: CHATTY_CALLS }, () => client.chat.completions.create(ask('Hello')).asResponse()),
  );
  // A window may begin before the calls and another end after them.
  const windows = 2 + Math.ceil((performance.now() - begunAt) / LOG_WINDOW_MS);
  const bodies = await Promise.all(
    responses.map((response) => response.json() as Promise<OpenAI.ChatCompletion>),
  );
  t.ok(
    bodies.every(({ choices }) => choices[0]?.message.content === 'You said: Hello'),
    'all are served',
  );
  const logged = responses.filter(({ headers }) => headers.get('service-logged') !== 'false');
  t.ok(logged.length > 0, 'some are logged');
  t.ok(logged.length <= LOGS_PER_WINDOW * windows, `${logged.length} are logged in ${windows} windows`);
  const records = await found(world, key, logged.length, { filter: 'all' });
  t.same(
    records.map(({ request_id }) => request_id).sort(),
    logged.map(({ headers }) => headers.get('service-request-id')).sort(),
    'exactly those that were not told otherwise',
  );
}

const CASES: [title: string, run: (t: Test, world: World) => Promise<void>][] = [
  [
    'the policy of a key holds by user, through kills of both gateways, and its refusals are found',
    keyPolicy,
  ],
  ['creating a key with an invalid policy is refused', badKeyPolicy],
  ['of many concurrent calls exactly the quota is admitted', exactAmongProcesses],
  ['the estimate of a call under way counts after its gateway is killed', killedWithMoneyReserved],
  ['a cache hit costs nothing, and is found by isCached', cached],
  ['calls above the logging rate are served, and report that they are not logged', loggingRate],
];

for (const runtime of ['node', 'deno'] as const) {
  t.test(`two gateways under ${runtime}`, async (t) => {
    const world = await startWorld(t, runtime);
    for (const [title, run] of CASES) await t.test(title, (t) => run(t, world));
  });
}
