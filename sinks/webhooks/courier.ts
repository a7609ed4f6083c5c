/**
 * Makes the deliveries that the sink has written: claims due ones while there is capacity, posts their messages, and settles
 * them. Any number of processes may run it. A process that dies loses nothing: its leases expire.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import { FailureLog } from '#platform/observability/failure-log.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Outbound } from '#platform/outbound/mod.ts';
import { isStoreUnavailable, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { WakeUp } from '#platform/process/wake-up.ts';
import { type SecretBox, SecretsUnavailableError } from '#platform/secrets/mod.ts';
import { openWebhookSecrets, type WebhookSecrets } from '#platform/webhooks/mod.ts';
import { ATTEMPT_TIMEOUT_MS, attempt } from './attempt.ts';
import { type Claimed, claim, type Job, LEASE_MS, release } from './claim.ts';
import { type Content, readContent } from './content.ts';
import { messageOf } from './message.ts';
import {
  GIVEN_UP,
  GONE,
  MAX_LOST,
  type Outcome,
  outcomeOf,
  type ScheduleOptions,
  unsigned,
} from './outcome.ts';
import { type Settlement, settle } from './settle.ts';
import type { Capacity } from './shares.ts';
import type { Pause } from './webhooks.ts';

export type CourierOptions = {
  /** Connections of the owner of the tables. */
  sql: Sql;
  log: Logger;
  clock: Clock;
  outbound: Outbound;
  secrets: SecretBox;
  /** Called for each delivery that was settled. */
  onSettled?(outcome: Outcome): void;
  /** Returns how long the courier may sleep unless a delivery is due before or `wake` is called, in milliseconds. */
  longestSleepMs(): number;
  /** Overrides, for tests. */
  capacity?: Capacity;
  schedule?: ScheduleOptions;
  timeoutMs?: number;
  leaseMs?: number;
};

/**
 * Attempts at a time: they wait for receivers, and hold a message of at most 256 KiB each. One receiver that takes 15 seconds
 * for each message holds ten of them, and an organization of such receivers 40.
 */
const CAPACITY: Capacity = { total: 200, ofOrganization: 40, ofWebhook: 10 };
/** Time until the next look while deliveries are due for which there is no room. */
const BUSY_SLEEP_MS = 1_000;
const RETRY_MS = 500;
/** Wait for attempts under way at a stop: the sinks are cut off after two seconds. */
const STOP_MS = 1_000;

/** After a failure it looks again soon. */
const FAILED: Claimed = { jobs: [], dueInMs: 0 };

export class Courier {
  readonly #options: CourierOptions;
  readonly #failures: FailureLog;
  readonly #held = new Map<string, Job>();
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #cutOff = new AbortController();
  readonly #wakeUp = new WakeUp();
  #settlements: Settlement[] = [];

  constructor(options: CourierOptions) {
    this.#options = options;
    this.#failures = new FailureLog(options.log);
  }

  /** Looks for due deliveries at once. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Runs until `stop`. */
  async run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#settleEnded();
      const { jobs, dueInMs } = await this.#claim();
      // Otherwise more may be due: claims again as soon as there is room.
      if (jobs.length === 0) await this.#sleep(dueInMs);
      else await this.#begin(jobs);
    }
    const ending = Promise.all(this.#running);
    await Promise.race([ending, sleep(STOP_MS, undefined, { ref: false })]);
    this.#cutOff.abort();
    await Promise.all(this.#running);
    await this.#settleEnded();
    await this.#releaseHeld();
  }

  /** Claims nothing new. */
  stop(): void {
    this.#stopping.abort();
    this.wake();
  }

  async #claim(): Promise<Claimed> {
    const { sql, capacity = CAPACITY, leaseMs = LEASE_MS } = this.#options;
    const held = [...this.#held.values()];
    return (await this.#try('claim deliveries', () => claim(sql, held, capacity, leaseMs))) ?? FAILED;
  }

  /**
   * Begins the attempts of claimed deliveries. Deliveries whose requests cannot be read now are claimed again when their leases
   * have expired.
   */
  async #begin(claimed: readonly Job[]): Promise<void> {
    const jobs = claimed.filter((job) => !this.#isGivenUp(job));
    const content = await this.#try('read the requests of events', () =>
      readContent(this.#options.sql, jobs),
    );
    if (content === null) return;
    for (const job of jobs) {
      this.#held.set(job.deliveryId, job);
      const running = this.#deliver(job, content.get(job.deliveryId) ?? null).finally(() => {
        this.#running.delete(running);
        this.wake();
      });
      this.#running.add(running);
    }
  }

  #isGivenUp(job: Job): boolean {
    if (job.lost < MAX_LOST) return false;
    this.#held.set(job.deliveryId, job);
    this.#settlements.push({ job, outcome: GIVEN_UP });
    return true;
  }

  async #deliver(job: Job, content: Content | null): Promise<void> {
    try {
      this.#settlements.push({ job, outcome: await this.#attempt(job, content) });
    } catch (error) {
      // Cut off by a stop, and released; or a defect, and it comes again when its lease has expired.
      if (this.#cutOff.signal.aborted) return;
      this.#held.delete(job.deliveryId);
      this.#options.log.error(
        { webhookId: job.webhookId, deliveryId: job.deliveryId, error: describeError(error) },
        'a delivery failed for a defect of Assay',
      );
    }
  }

  async #attempt(job: Job, content: Content | null): Promise<Outcome> {
    const { clock, outbound, schedule, timeoutMs = ATTEMPT_TIMEOUT_MS } = this.#options;
    if (content === null && job.requestId !== null && job.event !== 'request.deleted') return GONE;
    const opened = this.#open(job);
    if ('problem' in opened) return unsigned(job, opened.problem);
    const { deliveryId: id, url, isRotating } = job;
    const made = await attempt(
      { id, url, isRotating, body: messageOf(job, content), secrets: opened.secrets },
      { outbound, clock, timeoutMs, signal: this.#cutOff.signal },
    );
    return outcomeOf(job, made, schedule);
  }

  #open(job: Job): { secrets: WebhookSecrets } | { problem: string } {
    try {
      return { secrets: openWebhookSecrets(this.#options.secrets, job, job.sealed) };
    } catch (error) {
      if (error instanceof SecretsUnavailableError) return { problem: error.message };
      throw error;
    }
  }

  /**
   * Settles all attempts that have ended. While Postgres is away they wait. One that Postgres refuses is left to its lease, so
   * that it holds up no other.
   */
  async #settleEnded(): Promise<void> {
    const ended = this.#settlements.splice(0);
    if (ended.length === 0) return;
    try {
      this.#report(ended, await settle(this.#options.sql, ended));
    } catch (error) {
      const isAway = isStoreUnavailable(error);
      const fields = { error: describeError(error), deliveries: ended.length };
      if (isAway) this.#failures.note('warn', fields, 'cannot settle deliveries; will try again');
      else this.#options.log.error(fields, 'Postgres refused to settle deliveries');
      if (isAway) this.#settlements.push(...ended);
      else await this.#settleEach(ended);
      await this.#pauseAfterFailure();
    }
  }

  async #settleEach(ended: readonly Settlement[]): Promise<void> {
    for (const one of ended) {
      await settle(this.#options.sql, [one]).then(
        (paused) => this.#report([one], paused),
        () => this.#held.delete(one.job.deliveryId),
      );
    }
  }

  #report(ended: readonly Settlement[], paused: readonly Pause[]): void {
    for (const { job, outcome } of ended) {
      this.#held.delete(job.deliveryId);
      this.#options.onSettled?.(outcome);
    }
    for (const { webhookId, reason, message } of paused) {
      this.#options.log.warn({ webhookId, reason, message }, 'a webhook was paused');
    }
  }

  async #releaseHeld(): Promise<void> {
    const held = [...this.#held.values()];
    if (held.length > 0) await this.#try('release deliveries', () => release(this.#options.sql, held));
  }

  /** Runs `work`; null after a failure, which is logged and waited for. */
  async #try<T>(what: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      if (this.#stopping.signal.aborted) return null;
      const level = isStoreUnavailable(error) ? 'warn' : 'error';
      this.#failures.note(level, { error: describeError(error) }, `cannot ${what}; will try again`);
      await this.#pauseAfterFailure();
      return null;
    }
  }

  async #pauseAfterFailure(): Promise<void> {
    await sleep(RETRY_MS, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }

  /** Sleeps until a delivery is due or it is woken, as it is when an attempt ends. */
  async #sleep(dueInMs: number | null): Promise<void> {
    const longestMs = this.#options.longestSleepMs();
    const dueMs = dueInMs === 0 ? BUSY_SLEEP_MS : Math.ceil(dueInMs ?? longestMs);
    if (!this.#stopping.signal.aborted) await this.#wakeUp.sleep(Math.min(dueMs, longestMs));
  }
}
