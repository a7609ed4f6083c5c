/**
 * One lane of the worker: claims due work of one queue as long as it has capacity, has it done, and settles it. If the
 * process dies, the work it holds becomes due again when the leases expire.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import { FailureLog } from '#platform/observability/failure-log.ts';
import type { Logger } from '#platform/observability/log.ts';
import { isStoreUnavailable } from '#platform/postgres/mod.ts';
import { WakeUp } from '#platform/process/wake-up.ts';
import { LEASE_MS } from '../queue/mod.ts';

/** What a lane may claim now. */
export type Room = {
  /** Maximum number of jobs to claim. */
  limit: number;
  /** The number of further jobs that an organization may hold; organizations not in it may hold `roomOfOthers`. */
  roomByOrganization: ReadonlyMap<string, number>;
  roomOfOthers: number;
};

export type Claimed<Job> = {
  jobs: Job[];
  /** Time until the next open job is due, in milliseconds; 0: some are due already; null: none is open. */
  dueInMs: number | null;
};

/** A table as a queue of leases. */
type Queue<Job, Result> = {
  /** Names the work in log lines: `evaluations`. */
  what: string;
  claim(room: Room): Promise<Claimed<Job>>;
  /** Returns whether this process still had the lease, so that the result was written. */
  settle(job: Job, result: Result): Promise<boolean>;
  renew(jobs: readonly Job[]): Promise<void>;
  release(jobs: readonly Job[]): Promise<void>;
};

type LaneOptions<Job, Result> = {
  log: Logger;
  queue: Queue<Job, Result>;
  /** Maximum number of jobs held at a time, beside the spare ones of organizations that hold none. */
  capacity: number;
  /** Returns what tells a job from all others of the queue. */
  idOf(job: Job): string;
  /** Puts jobs that are done together into groups. */
  group(jobs: readonly Job[]): Job[][];
  /** Does a group: one result for each job, in order. Must not reject. */
  work(group: readonly Job[]): Promise<Result[]>;
  onSettled(job: Job, result: Result): void;
  /** Returns how long the lane may sleep unless work is due before or `wake` is called, in milliseconds. */
  longestSleepMs(): number;
};

/** Time until the next look while due work is left that could not be claimed: others hold its rows, or its organization's share is used up. */
const BUSY_SLEEP_MS = 1_000;
const RENEW_EVERY_MS = LEASE_MS / 3;
/** Leases that were not renewed for so long may run out: Postgres was away, or this process frozen. */
const LATE_MS = LEASE_MS / 2;
const RETRY_MS = 500;
/** Maximum share of the capacity for one organization, so that others find room at once when they have work. */
const MAX_ORGANIZATION_SHARE = 0.5;
/**
 * Places beyond the capacity, as a share of it, each for an organization that holds none here. Without them two organizations whose
 * judges hang fill all places, and everyone else waits for as long as a judge may take. More would be more than the operator set.
 */
const SPARE_SHARE = 0.25;

export class Lane<Job extends { organizationId: string }, Result> {
  readonly #options: LaneOptions<Job, Result>;
  readonly #failures: FailureLog;
  readonly #held = new Map<string, Job>();
  readonly #running = new Set<Promise<void>>();
  readonly #wakeUp = new WakeUp();
  /** When the leases were renewed, or the first of them taken. */
  #renewedAt = performance.now();
  #isStopping = false;

  constructor(options: LaneOptions<Job, Result>) {
    this.#options = options;
    this.#failures = new FailureLog(options.log);
  }

  /** Number of jobs held now. */
  get held(): number {
    return this.#held.size;
  }

  /** Looks for due work at once. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Runs until `stop`. Resolves when all jobs under way are settled. */
  async run(): Promise<void> {
    const renewing = setInterval(() => void this.#renew(), RENEW_EVERY_MS);
    while (!this.#isStopping) {
      const { jobs, dueInMs } = await this.#claim();
      for (const group of this.#options.group(jobs)) this.#begin(group);
      // Otherwise more may be due: claims again at once.
      if (jobs.length === 0 || this.#freeCapacity() <= 0) await this.#sleep(dueInMs);
    }
    await Promise.all(this.#running);
    clearInterval(renewing);
  }

  /** Stops claiming. */
  stop(): void {
    this.#isStopping = true;
    this.wake();
  }

  /** Releases the jobs that are still held, because the process ends before they are done. */
  async abandon(): Promise<void> {
    const held = [...this.#held.values()];
    if (held.length > 0) await this.#options.queue.release(held);
  }

  /** Negative while spare places are taken. */
  #freeCapacity(): number {
    return this.#options.capacity - this.#held.size;
  }

  #room(): Room {
    const { capacity } = this.#options;
    const free = this.#freeCapacity();
    const isFull = free <= 0;
    const roomOfOthers = isFull ? 1 : Math.max(1, Math.floor(capacity * MAX_ORGANIZATION_SHARE));
    const roomByOrganization = new Map<string, number>();
    for (const { organizationId } of this.#held.values()) {
      roomByOrganization.set(organizationId, (roomByOrganization.get(organizationId) ?? roomOfOthers) - 1);
    }
    const limit = isFull ? Math.ceil(capacity * SPARE_SHARE) + free : free;
    return { limit, roomByOrganization, roomOfOthers };
  }

  async #claim(): Promise<Claimed<Job>> {
    const room = this.#room();
    if (room.limit === 0) return { jobs: [], dueInMs: null };
    const { queue } = this.#options;
    try {
      // Else work under way here, whose lease has run out, would be claimed once more, and done and paid twice.
      if (this.#held.size > 0 && performance.now() - this.#renewedAt > LATE_MS) await this.#renewHeld();
      return await queue.claim(room);
    } catch (error) {
      if (!isStoreUnavailable(error))
        this.#failures.note('error', { error: describeError(error) }, `cannot claim ${queue.what}`);
      await sleep(RETRY_MS);
      return { jobs: [], dueInMs: 0 };
    }
  }

  #begin(group: readonly Job[]): void {
    if (this.#held.size === 0) this.#renewedAt = performance.now();
    for (const job of group) this.#held.set(this.#options.idOf(job), job);
    const running = this.#work(group).finally(() => {
      this.#running.delete(running);
      this.wake();
    });
    this.#running.add(running);
  }

  async #work(group: readonly Job[]): Promise<void> {
    const results = await this.#options.work(group);
    await Promise.all(group.map((job, index) => this.#settle(job, results[index]!)));
  }

  async #settle(job: Job, result: Result): Promise<void> {
    const { queue, idOf, onSettled } = this.#options;
    const leaseEnds = performance.now() + LEASE_MS;
    // While Postgres is unavailable the result waits here. When the lease expires the job will be done again.
    while (performance.now() < leaseEnds) {
      try {
        if (await queue.settle(job, result)) onSettled(job, result);
        break;
      } catch (error) {
        const level = isStoreUnavailable(error) ? 'warn' : 'error';
        const fields = { id: idOf(job), error: describeError(error) };
        this.#failures.note(level, fields, `cannot settle one of the ${queue.what}`);
        await sleep(RETRY_MS);
      }
    }
    this.#held.delete(idOf(job));
  }

  async #renew(): Promise<void> {
    if (this.#held.size === 0) return;
    const { queue, log } = this.#options;
    await this.#renewHeld().catch((error: unknown) => {
      log.warn({ error: describeError(error) }, `cannot renew the leases of ${queue.what}`);
    });
  }

  async #renewHeld(): Promise<void> {
    const at = performance.now();
    await this.#options.queue.renew([...this.#held.values()]);
    this.#renewedAt = at;
  }

  /** Sleeps until something is due or the lane is woken, as it is when a place becomes free. */
  async #sleep(dueInMs: number | null): Promise<void> {
    const longestMs = this.#options.longestSleepMs();
    const dueMs = dueInMs === 0 ? BUSY_SLEEP_MS : Math.ceil(dueInMs ?? longestMs);
    if (!this.#isStopping) await this.#wakeUp.sleep(Math.min(dueMs, longestMs));
  }
}
