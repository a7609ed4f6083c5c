/**
 * One gateway of a cluster, as far as limits go: asks its limiter at a steady rate, and writes down when each call was
 * admitted, at once, so that being killed loses nothing. Run as a process; its one argument is a `MemberTask`.
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
  /** Where admissions are appended, RECORD_BYTES each. */
  file: string;
  seed: number;
  limits: { counter: Counter; policy: Policy }[];
  attempts: number;
  perSecond: number;
  /** How long it goes on after its attempts, to use up what others give back. */
  tailMs: number;
};

/**
 * Four doubles: when it was decided, not before and not after (milliseconds); the counter's place in `limits`; and what
 * the call uses at least: 1, or of money the smaller one of its estimate and its cost.
 */
export const RECORD_BYTES = 32;
/** In place of a counter: a decision was made without the store, so that for a while none of them is exact. */
export const WITHOUT_STORE = -1;
/** What calls under a limit in money are thought to cost, in nano-dollars; they cost up to a tenth more or less. */
export const ESTIMATES_NANO = { least: 80, most: 120 };
const LONGEST_CALL_MS = 300;
/** Whoever is slow here is slow because of the machine: the store is not away. */
const PATIENCE_MS = 30_000;
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
   * The first and the last time that was told since the loop turned: a decision was made by one of them, by the first
   * when it was made at once. CLOCK_MONOTONIC, as all members have it.
   */
  let told: { first: number; last: number } | null = null;
  const clock = {
    now: () => Date.now(),
    monotonic() {
      const now = Number(process.hrtime.bigint()) / 1e6;
      if (told === null) setImmediate(forget);
      told = { first: told?.first ?? now, last: now };
      return now;
    },
  };
  const forget = () => {
    told = null;
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
    storeTimeoutMs: PATIENCE_MS,
    onDegraded: () => {
      degraded += 1;
      note(WITHOUT_STORE, 0, 0, 0);
    },
  });
  const ask = ({ counter, policy }: MemberTask['limits'][number]) => {
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
    const { decision, amount, settle } = ask(task.limits[place]!);
    const at = told!.first;
    const decided = (made: Decision, notBefore: number, notAfter: number) => {
      if (!made.isAdmitted) return;
      note(place, amount, notBefore, notAfter);
      settle(made as Reservation);
    };
    if (!(decision instanceof Promise)) return decided(decision, at, at);
    const noted = decision
      .then((made) => decided(made, told!.first, told!.last))
      .finally(() => underWay.delete(noted));
    underWay.add(noted);
  };

  const start = performance.now();
  for (let made = 0; made < task.attempts; ) {
    const due = Math.min(task.attempts, ((performance.now() - start) * task.perSecond) / 1000);
    // The first ones more often, as some customers are.
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
  if (degraded > 0) throw new Error(`${degraded} decisions were made without the store`);
}

if (process.argv[1] === import.meta.filename) {
  endWithParent();
  await run(JSON.parse(process.argv[2]!) as MemberTask);
}
