/**
 * `npm run bench limits`: what a rate-limit policy adds to a call, and what a stored answer saves. One gateway, its
 * provider and the load generator as in `bench gateway`; the variants take turns. Then decisions alone, in this process.
 */
import { Command, InvalidArgumentError } from 'commander';
import { type Policy, parsePolicy } from '#core/rate-limit/mod.ts';
import { createLimiter, type Limiter, type Reservation } from '#platform/limiter/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { type Figures, type LoadGenerator, measure, startLoadGenerator } from './gateway/measure.ts';
import { describePinning, pin } from './gateway/process.ts';
import type { Target } from './gateway/target.ts';
import { startProvider, startTarget } from './gateway/targets.ts';
import { describeMachine } from './machine.ts';
import { formatTable, median, percentile } from './table.ts';

const BYTES = 1_024;
const CONNECTIONS = [1, 16];
const WARM_UP_SECONDS = 2;

/** What the calls of a variant say beside their key. None is ever refused. */
const VARIANTS: Record<string, Record<string, string>> = {
  'no policy': {},
  'requests, one counter': { 'service-ratelimit-policy': '1000000000;w=60' },
  'requests, a user': { 'service-ratelimit-policy': '1000000000;w=60;s=user', 'service-user-id': 'someone' },
  cents: { 'service-ratelimit-policy': '1000000000;w=3600;u=cents' },
  'stored answer': { 'service-cache-enabled': 'true' },
};
const BASE = 'no policy';

const DECISIONS = 200_000;
const POLICIES = ['100000;w=60', '1000000000;w=60', '100000;w=3600;u=cents', '1000000000;w=3600;u=cents'];
/** What a call under a limit in money is thought to cost, and costs, in nano-dollars. */
const MONEY = { estimate: 300_000, cost: 200_000 };
/** What gateways call for the sake of calls; all else is by the clock. */
const STATEMENTS = ['limit_take', 'limit_give_back', 'limit_hold', 'limit_settle'];

type Results = Map<string, Figures[]>;

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a positive number.');
  return value;
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench limits')
    .description(
      'What a rate-limit policy costs a call, what a stored answer saves, and what a decision takes',
    )
    .option('--seconds <number>', 'length of one measurement', positive, 3)
    .option('--rounds <number>', 'interleaved rounds; the medians are shown', positive, 5)
    .option('--only <variant...>', `of the variants, beside "${BASE}", no others than these`)
    .parse(args, { from: 'user' });
  const { seconds, rounds, only } = command.opts<{ seconds: number; rounds: number; only?: string[] }>();
  const variants = Object.entries(VARIANTS).filter(
    ([name]) => name === BASE || (only?.includes(name) ?? true),
  );
  process.stdout.write(`\n${describeMachine()}\n${describePinning().join('\n')}\n`);
  await measureDecisions();
  pin(process.pid, 'others');
  const load = startLoadGenerator();
  const provider = await startProvider(BYTES);
  const target = await startTarget('ours', provider);
  try {
    for (const connections of CONNECTIONS) {
      const results = await measureVariants(load, target, variants, { connections, seconds, rounds });
      process.stdout.write(`\n1 KB, connections: ${connections}\n${tableOf(results)}\n`);
    }
  } finally {
    await target.stop();
    await provider.stop();
    await load.stop();
  }
}

async function measureVariants(
  load: LoadGenerator,
  target: Target,
  variants: readonly [name: string, headers: Record<string, string>][],
  { connections, seconds, rounds }: { connections: number; seconds: number; rounds: number },
): Promise<Results> {
  const scenario = { name: 'limits', bytes: BYTES, stream: false, connections };
  const results: Results = new Map();
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, headers] of variants) {
      process.stderr.write(`${connections} connections, round ${round} of ${rounds}: ${name}\n`);
      const asked = { ...target, headers: { ...target.headers, ...headers } };
      const extent = { seconds: round === 0 ? WARM_UP_SECONDS : seconds };
      const figures = await measure(load, asked, scenario, extent);
      if (figures.failure !== null) throw new Error(`A call under "${name}" failed: ${figures.failure}`);
      if (round > 0) results.set(name, [...(results.get(name) ?? []), figures]);
    }
  }
  return results;
}

function tableOf(results: Results): string {
  const middle = (name: string, of: (figures: Figures) => number) => median(results.get(name)!.map(of));
  const callsPerSecond = (name: string) => middle(name, (figures) => figures.callsPerSecond);
  const rows = [...results.keys()].map((name) => [
    name,
    middle(name, (figures) => figures.totalP50).toFixed(3),
    middle(name, (figures) => figures.totalP99).toFixed(3),
    callsPerSecond(name).toFixed(0),
    (callsPerSecond(name) / callsPerSecond(BASE)).toFixed(2),
    middle(name, (figures) => figures.cpuMicrosecondsPerCall).toFixed(1),
  ]);
  return formatTable([['', 'p50 ms', 'p99 ms', 'calls/s', `of ${BASE}`, 'CPU µs/call'], ...rows]);
}

/** How long a decision holds the thread that asks, how often it has to wait for Postgres, and how often that is asked. */
async function measureDecisions(): Promise<void> {
  const database = await testDatabase();
  try {
    const name = new URL(database.url).pathname.slice(1);
    await database.sql`alter database ${database.sql(name)} set track_functions = 'pl'`;
    const rows = [];
    for (const text of POLICIES) rows.push(await decide(database, parsePolicy(text)));
    const head = ['decisions', 'at once, µs p50', 'p99', 'p99.9', 'waited', 'ms p50', 'statements per 1,000'];
    process.stdout.write(`\n${formatTable([head, ...rows])}\n`);
  } finally {
    await database.close();
  }
}

async function decide({ url, sql: own }: TestDatabase, policy: Policy): Promise<string[]> {
  const before = await countStatements(own);
  const sql = connectPostgres({ url, max: 4, applicationName: 'bench', statementTimeoutMs: 5_000 });
  const log = createLogger({ role: 'bench', level: 'silent' });
  const limiter = createLimiter({ sql, clock: systemClock, log });
  const ask = deciding(limiter, policy);
  const atOnce: number[] = [];
  const waited: number[] = [];
  for (let made = 0; made < DECISIONS; made += 1) {
    const beganAt = performance.now();
    const decision = ask();
    if (decision instanceof Promise) {
      await decision;
      waited.push(performance.now() - beganAt);
    } else {
      atOnce.push(1_000 * (performance.now() - beganAt));
    }
    // As a server does, between calls: what comes from Postgres meanwhile must be heard.
    if (made % 10 === 0) await new Promise(setImmediate);
  }
  await limiter.stop(1_000);
  // A connection that ends leaves its counts.
  await sql.end();
  const [sorted, slow] = [atOnce, waited].map((times) => times.toSorted((a, b) => a - b));
  return [
    policy.text,
    ...[0.5, 0.99, 0.999].map((fraction) => percentile(sorted!, fraction).toFixed(2)),
    `${((100 * waited.length) / DECISIONS).toFixed(2)} %`,
    percentile(slow!, 0.5).toFixed(2),
    (((await countStatements(own)) - before) / (DECISIONS / 1_000)).toFixed(2),
  ];
}

/** One decision; of money with what follows it. */
function deciding(limiter: Limiter, policy: Policy): () => unknown {
  const counter = {
    organizationId: '00000000-0000-4000-8000-000000000001',
    apiKeyId: '00000000-0000-4000-8000-000000000002',
    unit: policy.unit,
    segment: '',
    value: policy.text,
  };
  if (policy.unit !== 'cents') return () => limiter.admit(counter, policy);
  const settle = (reservation: Reservation) => reservation.settle(MONEY.cost);
  return () => {
    const reservation = limiter.reserve(counter, policy, MONEY.estimate);
    return reservation instanceof Promise ? reservation.then(settle) : settle(reservation);
  };
}

async function countStatements(sql: Sql): Promise<number> {
  const [row] = await sql<{ calls: number }[]>`
    select coalesce(sum(calls), 0)::int as calls from pg_stat_user_functions where funcname = any(${STATEMENTS})`;
  return row!.calls;
}
