/**
 * The promise of the product, tested where it hurts: the gateway is killed with SIGKILL in the middle of its work, again
 * and again, and now and then ingest as well. Each client that got a complete answer must find its record, once and whole.
 * ASSAY_SEED repeats a run's moments; `ASSAY_KILLS=50` makes a long run, before a release or after a change of the outbox.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { type Answered, plainCall, recordedCalls, streamedCall } from '../../support/answered.ts';
import { type Run, type Runtime, runMain, waitFor } from '../../support/assay.ts';
import { freePort } from '../../support/free-port.ts';
import { seededRandom } from '../../support/random.ts';
import { databaseFor, scriptedProvider } from '../../support/world.ts';

const KILLS = Number(process.env.ASSAY_KILLS ?? 16);
/** Every so many kills it is the gateway under Deno: they take over each other's outboxes. */
const DENO_EVERY = 5;
const INGEST_EVERY = 8;
/** Every so many kills it may be before the gateway has answered anything; the others come under load. */
const EARLY_EVERY = 4;
const CLIENTS = 8;
const REFUSED_PAUSE_MS = 25;
/** A kill comes this long after the gateway has answered again. */
const LIFE_MS = { min: 20, max: 500 };
const FINDABLE_WITHIN_MS = 60_000;

/** Calls without a pause, plain and streamed in turn, until told to stop; failures are what a killed gateway causes. */
async function keepCalling(
  client: OpenAI,
  name: string,
  signal: AbortSignal,
  answered: Answered[],
): Promise<number> {
  let failures = 0;
  for (let call = 0; !signal.aborted; call += 1) {
    const user = `${name}-${call}`;
    try {
      answered.push(await (call % 2 === 0 ? plainCall(client, user) : streamedCall(client, user)));
    } catch (error) {
      if (!(error instanceof OpenAI.APIError) && !(error instanceof TypeError)) throw error;
      failures += 1;
      // Refused, most of them, while the next gateway starts: asked more often, they would take the machine from it.
      await sleep(REFUSED_PAUSE_MS);
    }
  }
  return failures;
}

t.setTimeout(120_000 + KILLS * 20_000);

async function kill(run: Run): Promise<void> {
  run.process.kill('SIGKILL');
  await run.ended;
}

/**
 * A gateway and an ingest on one data directory, each in a process of its own that can be killed and started again.
 * Without their supervisor: its growing pauses between restarts would make so many kills take minutes.
 */
async function startServices(t: Test, databaseUrl: string) {
  const provider = await scriptedProvider(t);
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-test-data-'));
  const gatewayPort = await freePort();
  const environment = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    GATEWAY_PORT: String(gatewayPort),
    OPENAI_BASE_URL: provider.url,
    OPENAI_API_KEY: 'sk-test',
  };
  const url = `http://127.0.0.1:${gatewayPort}`;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
  const runs: Partial<Record<'gateway' | 'ingest', Run>> = {};
  t.teardown(async () => {
    for (const run of Object.values(runs)) await kill(run);
    rmSync(dataDir, { recursive: true, force: true });
  });
  return {
    url,
    runs,
    start: async (role: 'gateway' | 'ingest', runtime: Runtime = 'node') => {
      const run = runMain([role], environment, runtime);
      runs[role] = run;
      if (role === 'ingest') return;
      await waitFor(`the gateway under ${runtime}`, isReady).catch((error: Error) => {
        throw new Error(`${error.message}\n${run.stderr()}`);
      });
    },
  };
}

t.test(`every answer is recorded exactly once over ${KILLS} kills of the gateway`, async (t) => {
  const seed = Number(process.env.ASSAY_SEED ?? Date.now() % 1_000_000);
  t.comment(`ASSAY_SEED=${seed}`);
  const random = seededRandom(seed);
  const database = await databaseFor(t);
  const services = await startServices(t, database.url);
  const { organizationId } = await createOrganization(database.sql, { name: 'acme', tier: 'enterprise' });
  const { key } = await createKey(database.sql, { organizationId, scopes: ['gateway'], name: '' });
  await services.start('ingest');
  await services.start('gateway');
  const client = new OpenAI({ baseURL: `${services.url}/v1`, apiKey: key, maxRetries: 0 });
  const answered: Answered[] = [];
  const stop = new AbortController();
  const callers = Array.from({ length: CLIENTS }, (_, index) =>
    keepCalling(client, `client${index}`, stop.signal, answered),
  );

  let fruitful = 0;
  for (let round = 1; round <= KILLS; round += 1) {
    const before = answered.length;
    if (round % EARLY_EVERY !== 0) await waitFor('an answer', () => answered.length > before);
    await sleep(LIFE_MS.min + random() * (LIFE_MS.max - LIFE_MS.min));
    await kill(services.runs.gateway!);
    if (answered.length > before) fruitful += 1;
    if (round % INGEST_EVERY === 0) {
      await kill(services.runs.ingest!);
      await services.start('ingest');
    }
    await services.start('gateway', round % DENO_EVERY === 0 ? 'deno' : 'node');
  }
  stop.abort();
  const failures = (await Promise.all(callers)).reduce((sum, count) => sum + count, 0);
  t.comment(
    `${answered.length} complete answers, ${failures} calls cut short; ${fruitful} of ${KILLS} lives answered`,
  );
  t.ok(fruitful > KILLS / 2, 'the kills came under load');

  const missing = async () => {
    const stored = new Set((await recordedCalls(database)).map((record) => record.request_id));
    return answered.filter(({ requestId }) => !stored.has(requestId));
  };
  await waitFor('all records', async () => (await missing()).length === 0, FINDABLE_WITHIN_MS).catch(
    () => {},
  );
  t.same(await missing(), [], 'nothing that was answered is lost');

  const stored = await recordedCalls(database);
  const byUser = Map.groupBy(stored, (record) => record.user_id);
  const repeated = [...byUser.values()].filter((records) => records.length > 1);
  t.same(repeated, [], 'nothing is recorded twice');
  const changed = answered.filter(({ user, text }) => byUser.get(user)?.[0]?.text !== text);
  t.same(changed, [], 'what is recorded is what was answered');
  t.same(await database.sql`select reason from assay.dead_letters`, [], 'nothing was set aside');

  for (const [role, run] of Object.entries(services.runs)) {
    run.process.kill('SIGTERM');
    t.match(await run.ended, { code: 0 }, `the last ${role} stops in order`);
  }
});
