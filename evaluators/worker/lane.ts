/**
 * One lane of the worker: claims due evaluations as long as it has capacity, has them scored, and settles them. If the
 * process dies, the evaluations it holds become due again when their leases expire.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import type { Lane as LaneName } from '#core/scoring/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { isStoreUnavailable, type Sql } from '#platform/postgres/mod.ts';
import { WakeUp } from '#platform/process/wake-up.ts';
import {
  type Claimed,
  claim,
  type Job,
  LEASE_MS,
  type Lease,
  type NextState,
  releaseLeases,
  renewLeases,
  settle,
} from '../queue/mod.ts';
import type { EvaluationResult } from './evaluate.ts';
import { groupJobs } from './group.ts';

type LaneOptions = {
  sql: Sql;
  log: Logger;
  name: LaneName;
  /** Maximum number of evaluations held at a time. */
  capacity: number;
  /** Evaluates a group: one result for each job, in order. Must not reject. */
  evaluate(group: readonly Job[]): Promise<EvaluationResult[]>;
  onSettled(job: Job, next: NextState): void;
  /** Returns how long the lane may sleep unless work is due before or `wake` is called, in milliseconds. */
  longestSleepMs(): number;
};

/** Time until the next look while due work is left that could not be claimed: others hold its rows, or its organization's share is used up. */
const BUSY_SLEEP_MS = 1_000;
const RENEW_EVERY_MS = LEASE_MS / 3;
const RETRY_MS = 500;
/** Maximum share of the capacity for one organization, so that others find room at once when they have work. */
const MAX_ORGANIZATION_SHARE = 0.5;

const NOTHING: Claimed = { jobs: [], dueInMs: null };

export class Lane {
  readonly #options: LaneOptions;
  readonly #held = new Map<string, Job>();
  readonly #running = new Set<Promise<void>>();
  readonly #wakeUp = new WakeUp();
  #isStopping = false;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Number of evaluations held now. */
  get held(): number {
    return this.#held.size;
  }

  /** Looks for due work at once. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Runs until `stop`. Resolves when all evaluations under way are settled. */
  async run(): Promise<void> {
    const renewing = setInterval(() => void this.#renew(), RENEW_EVERY_MS);
    while (!this.#isStopping) {
      const { jobs, dueInMs } = await this.#claim();
      for (const group of groupJobs(jobs)) this.#begin(group);
      // Otherwise more may be due: claims again at once.
      if (jobs.length === 0 || this.#freeCapacity() === 0) await this.#sleep(dueInMs);
    }
    await Promise.all(this.#running);
    clearInterval(renewing);
  }

  /** Stops claiming. */
  stop(): void {
    this.#isStopping = true;
    this.wake();
  }

  /** Releases the evaluations that are still held, because the process ends before they are done. */
  async abandon(): Promise<void> {
    const held = [...this.#held.values()];
    if (held.length > 0) await releaseLeases(this.#options.sql, held);
  }

  #freeCapacity(): number {
    return this.#options.capacity - this.#held.size;
  }

  async #claim(): Promise<Claimed> {
    const limit = this.#freeCapacity();
    if (limit === 0) return NOTHING;
    const { sql, name, capacity, log } = this.#options;
    const roomOfOthers = Math.max(1, Math.floor(capacity * MAX_ORGANIZATION_SHARE));
    const roomByOrganization = new Map<string, number>();
    for (const { organizationId } of this.#held.values()) {
      roomByOrganization.set(organizationId, (roomByOrganization.get(organizationId) ?? roomOfOthers) - 1);
    }
    try {
      return await claim(sql, { lane: name, limit, roomByOrganization, roomOfOthers });
    } catch (error) {
      if (!isStoreUnavailable(error)) log.error({ error: describeError(error) }, 'cannot claim evaluations');
      await sleep(RETRY_MS);
      return { jobs: [], dueInMs: 0 };
    }
  }

  #begin(group: readonly Job[]): void {
    for (const job of group) this.#held.set(job.evaluationId, job);
    const running = this.#evaluate(group).finally(() => {
      this.#running.delete(running);
      this.wake();
    });
    this.#running.add(running);
  }

  async #evaluate(group: readonly Job[]): Promise<void> {
    const evaluated = await this.#options.evaluate(group);
    await Promise.all(group.map((job, index) => this.#settle(job, evaluated[index]!)));
  }

  async #settle(job: Job, { next, use }: EvaluationResult): Promise<void> {
    const leaseEnds = performance.now() + LEASE_MS;
    // While Postgres is unavailable the result waits here. When the lease expires the evaluation will be done again.
    while (performance.now() < leaseEnds) {
      try {
        if (await settle(this.#options.sql, job, next, use)) this.#options.onSettled(job, next);
        break;
      } catch (error) {
        const { log } = this.#options;
        const level = isStoreUnavailable(error) ? 'warn' : 'error';
        log[level](
          { evaluationId: job.evaluationId, error: describeError(error) },
          'cannot settle an evaluation',
        );
        await sleep(RETRY_MS);
      }
    }
    this.#held.delete(job.evaluationId);
  }

  async #renew(): Promise<void> {
    const held: Lease[] = [...this.#held.values()];
    if (held.length === 0) return;
    await renewLeases(this.#options.sql, held).catch((error: unknown) => {
      this.#options.log.warn({ error: describeError(error) }, 'cannot renew the leases of evaluations');
    });
  }

  /** Sleeps until something is due or the lane is woken, as it is when a place becomes free. */
  async #sleep(dueInMs: number | null): Promise<void> {
    const longestMs = this.#options.longestSleepMs();
    const dueMs = dueInMs === 0 ? BUSY_SLEEP_MS : Math.ceil(dueInMs ?? longestMs);
    if (!this.#isStopping) await this.#wakeUp.sleep(Math.min(dueMs, longestMs));
  }
}
