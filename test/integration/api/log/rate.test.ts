/** Requests logged through the API count against their organization's logging rate, over all processes. */
import t from 'tap';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { isReady, runMain, temporaryDataDir, waitFor } from '../../../support/assay.ts';
import { freePort } from '../../../support/free-port.ts';
import { seededRandom } from '../../../support/random.ts';
import { databaseFor } from '../../../support/world.ts';

const RATE = 50;
const WINDOW_MS = 5_000;

const database = await databaseFor(t);
const urls = await Promise.all([startApi(), startApi()]);

/** The API in a process of its own. */
async function startApi(): Promise<string> {
  const data = temporaryDataDir();
  const port = await freePort();
  const run = runMain(['api'], {
    DATABASE_URL: database.url,
    DATA_DIR: data.path,
    API_PORT: String(port),
    LOG_LEVEL: 'warn',
  });
  t.teardown(async () => {
    run.process.kill('SIGTERM');
    await run.ended;
    data.remove();
  });
  const url = `http://127.0.0.1:${port}`;
  await waitFor(`the API to serve: ${run.stderr()}`, () => isReady(url));
  return url;
}

let organizations = 0;
async function newKey(options: { tier?: 'free' | 'enterprise'; logsPer5s?: number } = {}): Promise<string> {
  organizations += 1;
  const { organizationId } = await createOrganization(database.sql, { name: `${organizations}`, ...options });
  return (await createKey(database.sql, { organizationId, scopes: ['write', 'read'] })).key;
}

const CALL = {
  provider: 'openai',
  model: 'gpt-4o-mini',
  request: { body: { messages: [] }, created_at: '2026-03-01T12:00:00.000Z' },
  response: { body: { choices: [] }, status: 200, created_at: '2026-03-01T12:00:01.000Z' },
};

async function send(url: string, key: string, more: object = {}) {
  const response = await fetch(`${url}/v1/log/request`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...CALL, ...more }),
  });
  const body = (await response.json()) as { data: { request_id: string } | null; error: string | null };
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body };
}

/** Logs `count` requests at the same time, by both processes in turn. */
const sendMany = (key: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, index) => send(urls[index % urls.length]!, key)));

const countOk = (answers: readonly { status: number }[]) =>
  answers.filter(({ status }) => status === 200).length;

/** Decisions that a process made by itself, as Postgres did not answer it in time. */
async function degraded(): Promise<number> {
  const texts = await Promise.all(urls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  return texts.reduce(
    (sum, text) => sum + Number(/^assay_api_limits_degraded_total(?:\{[^}]*\})? (\d+)$/m.exec(text)![1]),
    0,
  );
}

const ROUNDS = 10;

/** A burst within a window, in which the counters never seemed away, as they may on a busy machine. */
async function burst(): Promise<Awaited<ReturnType<typeof sendMany>>> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const key = await newKey({ logsPer5s: RATE });
    const [before, beganAt] = [await degraded(), performance.now()];
    const answers = await sendMany(key, 3 * RATE);
    if (performance.now() - beganAt < WINDOW_MS && (await degraded()) === before) return answers;
  }
  throw new Error(`Degraded in each of ${ROUNDS} rounds`);
}

t.before(async () => {
  // The first questions open connections, which on a busy machine takes longer than a request waits for them.
  const key = await newKey({ logsPer5s: 1_000_000 });
  await waitFor('the counters to answer in time', async () => {
    const before = await degraded();
    await sendMany(key, 20);
    return (await degraded()) === before;
  });
});

t.test('two processes together log as many simultaneous requests as the rate allows', async (t) => {
  const answers = await burst();
  t.equal(countOk(answers), RATE);

  const refused = answers.find(({ status }) => status !== 200)!;
  t.equal(refused.status, 429);
  t.match(refused.retryAfter, /^[1-6]$/);
  t.same(refused.body, {
    data: null,
    error: `The request was not logged: the organization's logging rate of ${RATE} in any 5 seconds is used up; Retry-After says in how many seconds one more will be logged`,
  });
});

t.test('a refused request sent again after Retry-After is logged under its chosen id', async (t) => {
  const key = await newKey({ logsPer5s: 1 });
  const url = urls[0];
  t.equal((await send(url, key)).status, 200);
  const requestId = newRequestId();
  const refused = await send(url, key, { request_id: requestId });
  t.equal(refused.status, 429);
  await new Promise((resolve) => setTimeout(resolve, Number(refused.retryAfter) * 1_000));
  const again = await send(url, key, { request_id: requestId });
  t.match(again, { status: 200, body: { data: { request_id: requestId } } });
});

t.test(
  'no interval of five seconds has more logged requests than the rate, whatever the arrivals',
  { timeout: 60_000 },
  async (t) => {
    const key = await newKey({ logsPer5s: RATE });
    const random = seededRandom(7);
    const before = await degraded();
    /** The times of call and response: each request was logged between them. */
    const logged: { from: number; to: number }[] = [];
    const beganAt = performance.now();
    const client = async () => {
      while (performance.now() - beganAt < 12_000) {
        const from = performance.now();
        const { status } = await send(urls[Math.floor(random() * urls.length)]!, key);
        if (status === 200) logged.push({ from, to: performance.now() });
        await new Promise((resolve) => setTimeout(resolve, random() * 100));
      }
    };
    await Promise.all(Array.from({ length: 6 }, client));
    const inside = (start: number) =>
      logged.filter(({ from, to }) => from >= start && to < start + WINDOW_MS).length;
    const most = Math.max(...logged.map(({ from }) => inside(from)));
    // A process that found Postgres away, as it may on a busy machine, has gone by its share, which is the rate.
    const isExact = (await degraded()) === before;
    t.ok(most <= (isExact ? RATE : 2 * RATE), `${most} in one interval`);
    t.ok(logged.length >= 2 * RATE, `${logged.length} in all: those that have left the window make room`);
  },
);

t.test('the usage shows the logging rate and its use, without requests refused as invalid', async (t) => {
  const key = await newKey({ logsPer5s: RATE });
  const url = urls[0];
  for (let sent = 0; sent < 3; sent += 1) t.equal((await send(url, key)).status, 200);
  t.equal((await send(url, key, { provider: 7 })).status, 400);
  const response = await fetch(`${url}/v1/rate-limit/usage`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { data } = (await response.json()) as { data: object[] };
  t.match(data, [{ unit: 'log', api_key_id: null, quota: RATE, used: 3 }]);
});

t.test(
  'requests of an organization without a logging rate are not counted, and the API counts as no gateway',
  async (t) => {
    const key = await newKey({ tier: 'enterprise' });
    t.equal(countOk(await sendMany(key, 3 * RATE)), 3 * RATE);
    const [gateways] = await database.sql<
      { count: number }[]
    >`select count(*)::int from assay.limit_gateways`;
    t.equal(gateways!.count, 0);
  },
);
