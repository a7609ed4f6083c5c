/** Logging rates: above an organization's rate its calls are served all the same, and not logged, which their answers say. */
import t, { type Test } from 'tap';
import { newRequestId } from '#platform/process/ids.ts';
import { waitFor } from '../../../support/assay.ts';
import { CHAT, type Gateway, readAll, STREAM, startLimitsWorld } from './world.ts';

const world = await startLimitsWorld(t);
const { gateway, provider } = world;
const second = await world.start();
t.afterEach(() => provider.script(null));

const RATE = 20;
const CALLS = 100;

async function sumOf(gateways: readonly Gateway[], metric: string): Promise<number> {
  const counts = await Promise.all(gateways.map((gateway) => gateway.metric(metric)));
  return counts.reduce((sum, count) => sum + count, 0);
}

const unlogged = (gateways: readonly Gateway[]) => sumOf(gateways, 'gateway_unlogged_total');

/** The calls of an organization that are recorded now. */
const recorded = (organizationId: string) => world.sql<{ request_id: string; error_code: string | null }[]>`
  select request_id, error_code from assay.requests where organization_id = ${organizationId} order by request_id`;

/** Makes a call of an organization without a rate, and waits for its record: what was committed before is stored too. */
async function pass(gateways: readonly Gateway[]): Promise<void> {
  const key = await world.newKey();
  for (const at of gateways) await readAll(await at.chat(key));
  await world.records(key, gateways.length);
}

type Answered = { id: string; status: number; isLogged: boolean; text: string };

async function burst(key: string, gateways: readonly Gateway[], body: object): Promise<Answered[]> {
  const asked = Array.from({ length: CALLS }, async (_, index) => {
    const answer = await readAll(await gateways[index % gateways.length]!.chat(key, {}, body));
    const { 'service-request-id': id = '', 'service-logged': logged } = answer.headers;
    if (logged !== undefined && logged !== 'false') throw new Error(`Service-Logged: ${logged}`);
    return { id, status: answer.status, isLogged: logged === undefined, text: answer.text };
  });
  return Promise.all(asked);
}

/** Checks that exactly the calls not reported as unlogged are recorded; returns their number. */
async function countLogged(t: Test, gateways: readonly Gateway[], body: object): Promise<number> {
  const organizationId = await world.newOrganization({ logsPer5s: RATE });
  const key = await world.newKey({ organizationId });
  const [calls, missing] = [provider.requests.length, await unlogged(gateways)];
  const answers = await burst(key, gateways, body);
  t.ok(
    answers.every(({ status, text }) => status === 200 && text.includes('Hello')),
    'every call is served, whole',
  );
  t.equal(provider.requests.length - calls, CALLS);
  const logged = answers.filter(({ isLogged }) => isLogged);
  await pass(gateways);
  t.same(
    (await recorded(organizationId)).map(({ request_id }) => request_id),
    logged.map(({ id }) => id).sort(),
    'recorded is who was not told otherwise',
  );
  t.equal((await unlogged(gateways)) - missing, CALLS - logged.length, 'the others are counted exactly');
  return logged.length;
}

const ROUNDS = 10;

/** Exactly the rate is logged, in a round in which the counters never seemed away, as they may on a busy machine. */
async function checkBurst(t: Test, gateways: readonly Gateway[], body: object): Promise<void> {
  const degraded = () => sumOf(gateways, 'gateway_limits_degraded_total');
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await degraded();
    const logged = await countLogged(t, gateways, body);
    if ((await degraded()) > before) continue;
    t.equal(logged, RATE);
    return;
  }
  t.fail(`Degraded in each of ${ROUNDS} rounds`);
}

t.test(`of ${CALLS} concurrent calls all are served, ${RATE} are logged, and the others report it`, (t) =>
  checkBurst(t, [gateway], CHAT),
);

t.test(`of ${CALLS} concurrent streams all are served, ${RATE} are logged, and the others report it`, (t) =>
  checkBurst(t, [gateway], STREAM),
);

t.test('two gateways share one logging rate', (t) => checkBurst(t, [gateway, second], CHAT));

t.test('an organization above its logging rate does not affect another', async (t) => {
  const [busy, calm] = [
    await world.newOrganization({ logsPer5s: 1 }),
    await world.newOrganization({ logsPer5s: 1 }),
  ];
  const key = await world.newKey({ organizationId: busy });
  for (let call = 0; call < 3; call += 1) await readAll(await gateway.chat(key));
  const other = await readAll(await gateway.chat(await world.newKey({ organizationId: calm })));
  t.equal(other.headers['service-logged'], undefined);
});

t.test('all keys of an organization share one logging rate', async (t) => {
  const organizationId = await world.newOrganization({ logsPer5s: 2 });
  const isLogged: boolean[] = [];
  for (let call = 0; call < 3; call += 1) {
    const key = await world.newKey({ organizationId });
    isLogged.push(!('service-logged' in (await readAll(await gateway.chat(key))).headers));
  }
  t.same(isLogged, [true, true, false]);
});

t.test('failures, refusals and cache hits that are not logged report it', async (t) => {
  const organizationId = await world.newOrganization({ logsPer5s: 1 });
  const key = await world.newKey({ organizationId });
  const stored = { 'Service-Cache-Enabled': 'true' };
  const limited = { 'Service-RateLimit-Policy': '1;w=60;s=user', 'Service-User-Id': 'ann' };
  t.equal(
    (await readAll(await gateway.chat(key, { ...stored, ...limited }))).headers['service-logged'],
    undefined,
  );
  provider.script(() => ({ kind: 'error', status: 500 }));
  const failed = await readAll(await gateway.chat(key));
  provider.script(() => ({ kind: 'reset' }));
  const broken = await readAll(await gateway.chat(key));
  const refused = await readAll(await gateway.chat(key, limited));
  const hit = await readAll(await gateway.chat(key, stored));
  for (const [answer, status] of [
    [failed, 500],
    [broken, 502],
    [refused, 429],
    [hit, 200],
  ] as const) {
    t.equal(answer.status, status);
    t.equal(answer.headers['service-logged'], 'false', `status ${status}`);
  }
  t.equal(hit.headers['service-cache'], 'HIT');
  await pass([gateway]);
  t.equal((await recorded(organizationId)).length, 1);
});

t.test('a call that is not logged can choose its request id, and use it once', async (t) => {
  const organizationId = await world.newOrganization({ logsPer5s: 1 });
  const key = await world.newKey({ organizationId });
  await readAll(await gateway.chat(key));
  const id = { 'Service-Request-Id': newRequestId() };
  const first = await readAll(await gateway.chat(key, id));
  t.match(first, { status: 200, headers: { 'service-logged': 'false' } });
  t.equal((await readAll(await gateway.chat(key, id))).status, 409);
});

t.test(
  'a stream whose provider is faster than the logging counter reports that it is not logged',
  async (t) => {
    const organizationId = await world.newOrganization({ logsPer5s: 1 });
    const key = await world.newKey({ organizationId });
    // The gateway keeps a key from the first call after the news of it has come.
    for (let call = 0; call < 3; call += 1) await readAll(await gateway.chat(key));
    world.proxy.freeze();
    const leaving = new AbortController();
    const left = gateway.chat(key, {}, STREAM, leaving.signal).catch(() => null);
    const before = provider.requests.length;
    const answer = await gateway.chat(key, {}, STREAM);
    t.equal(answer.headers.get('service-logged'), 'false');
    t.match(await answer.text(), /^data: .*Hello.*data: \[DONE\]\n\n$/s, 'and is whole');
    t.ok(provider.requests.length > before);
    leaving.abort();
    await left;
    world.proxy.thaw();
    await waitFor('the counters to be back', async () => {
      const degraded = await gateway.metric('gateway_limits_degraded_total');
      await readAll(await gateway.chat(key));
      return (await gateway.metric('gateway_limits_degraded_total')) === degraded;
    });
  },
);

t.test(
  'a call that was not logged is not recorded as interrupted when its gateway stops or the next one starts',
  async (t) => {
    const organizationId = await world.newOrganization({ logsPer5s: RATE });
    const key = await world.newKey({ organizationId });
    const answers = await burst(key, [gateway], STREAM);
    t.ok(answers.some(({ isLogged }) => isLogged) && answers.some(({ isLogged }) => !isLogged));
    // With calls that end early, too.
    provider.script(() => ({ kind: 'stream', ending: 'stall' }));
    const leaving = new AbortController();
    const stalled = await Promise.all(
      Array.from({ length: 5 }, () => gateway.chat(key, {}, STREAM, leaving.signal)),
    );
    provider.script(null);
    leaving.abort();
    await gateway.stop();
    const next = await world.start(world.dataDir);
    await pass([next]);
    const logged = [
      ...answers.filter(({ isLogged }) => isLogged).map(({ id }) => id),
      ...stalled
        .filter(({ headers }) => !headers.has('service-logged'))
        .map(({ headers }) => headers.get('service-request-id') ?? ''),
    ];
    const rows = await recorded(organizationId);
    t.same(
      rows.map(({ request_id }) => request_id),
      logged.sort(),
    );
    t.notOk(rows.some(({ error_code }) => error_code === 'interrupted'));
  },
);
