/**
 * The limiter of one gateway of a cluster: attempts calls at a steady rate, and writes each admission to a file at once,
 * so that a kill loses none. Run as a process; its one argument is a `MemberTask`.
 */
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Counter,
  createLimiter,
  type Decision,
  type Policy,
  type Reservation,
} from '#platform/limiter/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { seededRandom } from '../../../support/random.ts';
import { endWithParent } from './with-parent.ts';

export type MemberTask = {
  url: string;
  /** File to which admissions are appended, RECORD_BYTES each. */
  file: string;
  seed: number;
  limits: { counter: Counter; policy: Policy }[];
  attempts: number;
  perSecond: number;
  /** How long it continues after its attempts, to use up what other members return. */
  tailMs: number;
};

/**
 * Four doubles: lower and upper bound of the time of the decision (milliseconds); the counter's place in `limits`; and
 * the least that the call uses: 1, or for money the smaller of its estimate and its cost.
 */
export const RECORD_BYTES = 32;
/** In place of a counter: a decision was degraded, so that for a while decisions are not exact. */
export const DEGRADED = -1;
/** Estimated costs of calls under a limit in money. They cost up to a tenth more or less. */
export const ESTIMATES_NANO = { least: 80, most: 120 };
const LONGEST_CALL_MS = 300;
/** Long, because a slow store is only a busy machine here. */
const STORE_TIMEOUT_MS = 30_000;
const TAIL_STEP_MS = 100;

async function run(task: MemberTask): Promise<void> {
  const sql = connectPostgres({
    url: task.url,
    max: 4,
    applicationName: 'member',
    statementTimeoutMs: 30_000,
  });
  const file = openSync(task.file, 'a');
  const random = seededRandom(task.seed);
  /**
   * First and last reading of the clock since the last turn of the event loop: a decision was made at one of them, at
   * the first if it was synchronous. CLOCK_MONOTONIC, which all members share.
   */
  let readings: { first: number; last: number } | null = null;
  const clock = {
    now: () => Date.now(),
    monotonic() {
      const now = Number(process.hrtime.bigint()) / 1e6;
      if (readings === null) setImmediate(forget);
      readings = { first: readings?.first ?? now, last: now };
      return now;
    },
  };
  const forget = () => {
    readings = null;
  };
  let degraded = 0;
  const record = Buffer.alloc(RECORD_BYTES);
  const note = (place: number, amount: number, notBefore: number, notAfter: number) => {
    [notBefore, notAfter, place, amount].forEach((value, index) => {
      record.writeDoubleLE(value, 8 * index);
    });
    writeSync(file, record);
  };
  const limiter = createLimiter({
    sql,
    clock,
    log: createLogger({ role: 'member', level: 'warn' }),
    storeTimeoutMs: STORE_TIMEOUT_MS,
    onDegraded: () => {
      degraded += 1;
      note(DEGRADED, 0, 0, 0);
    },
  });
  const request = ({ counter, policy }: MemberTask['limits'][number]) => {
    if (policy.unit !== 'cents')
      return { decision: limiter.admit(counter, policy), amount: 1, settle: () => {} };
    const { least, most } = ESTIMATES_NANO;
    const estimate = least + Math.floor(random() * (most - least));
    const cost = Math.round(estimate * (0.9 + random() * 0.2));
    const decision = limiter.reserve(counter, policy, estimate);
    const settle = ({ settle }: Reservation) => setTimeout(settle, random() * LONGEST_CALL_MS, cost);
    return { decision, amount: Math.min(estimate, cost), settle };
  };
  const underWay = new Set<Promise<void>>();
  const attempt = (place: number) => {
    forget();
    const { decision, amount, settle } = request(task.limits[place]!);
    const at = readings!.first;
    const decided = (made: Decision, notBefore: number, notAfter: number) => {
      if (!made.isAdmitted) return;
      note(place, amount, notBefore, notAfter);
      settle(made as Reservation);
    };
    if (!(decision instanceof Promise)) return decided(decision, at, at);
    const noted = decision
      .then((made) => decided(made, readings!.first, readings!.last))
      .finally(() => underWay.delete(noted));
    underWay.add(noted);
  };

  const start = performance.now();
  for (let made = 0; made < task.attempts; ) {
    const due = Math.min(task.attempts, ((performance.now() - start) * task.perSecond) / 1000);
    // The first limits more often, as some customers are busier.
    for (; made < due; made += 1) attempt(Math.floor(random() ** 2 * task.limits.length));
    await sleep(1);
  }
  for (let passed = 0; passed < task.tailMs; passed += TAIL_STEP_MS) {
    await sleep(TAIL_STEP_MS);
    for (const place of task.limits.keys()) attempt(place);
  }
  await Promise.all(underWay);
  await sleep(LONGEST_CALL_MS);
  await limiter.stop(5_000);
  await sql.end({ timeout: 1 });
  if (degraded > 0) throw new Error(`${degraded} decisions were degraded`);
}

if (process.argv[1] === import.meta.filename) {
  endWithParent();
  await run(JSON.parse(process.argv[2]!) as MemberTask);
}
