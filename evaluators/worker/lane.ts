/**
 * One lane of the worker: claims what is due as long as there is room, has it scored, and settles it. Whatever happens to
 * the process, what it holds comes back when its lease is over.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import type { JudgeUse, Lane as LaneName } from '#core/scoring/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { isStoreUnavailable, type Sql } from '#platform/postgres/mod.ts';
import { type Claim, claim, type Fate, giveBack, type Job, LEASE_MS, renew, settle } from '../queue/mod.ts';
import { groupJobs } from './group.ts';

export type LaneOptions = {
  sql: Sql;
  log: Logger;
  name: LaneName;
  /** Evaluations that are held at a time. */
  capacity: number;
  /** Does evaluations that belong together, one result for each, in order; never rejects. */
  evaluate(group: readonly Job[]): Promise<{ fate: Fate; use: JudgeUse | null }[]>;
  onSettled(job: Job, fate: Fate): void;
};

/** What comes without a notification, as a retry does, is found this soon. */
const LOOK_EVERY_MS = 1_000;
const RENEW_EVERY_MS = LEASE_MS / 3;
const RETRY_MS = 500;
/** Of the capacity, for one organization while others may come: they find room at once. */
const SHARE_OF_ONE = 0.5;

export class Lane {
  readonly #options: LaneOptions;
  readonly #held = new Map<string, Job>();
  readonly #running = new Set<Promise<void>>();
  #isStopping = false;
  #isWoken = false;
  #wake: () => void = () => {};

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Evaluations that are held now. */
  get held(): number {
    return this.#held.size;
  }

  /** Something may be due. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Runs until `stop`; settles when everything that was begun is settled. */
  async run(): Promise<void> {
    const renewing = setInterval(() => void this.#renew(), RENEW_EVERY_MS);
    while (!this.#isStopping) {
      this.#isWoken = false;
      const claimed = await this.#claim();
      for (const group of groupJobs(claimed)) this.#begin(group);
      // What was claimed may not have been all.
      if (claimed.length === 0 || this.#room() === 0) await this.#nextLook();
    }
    await Promise.all(this.#running);
    clearInterval(renewing);
  }

  /** Claims nothing more. */
  stop(): void {
    this.#isStopping = true;
    this.wake();
  }

  /** Gives back what is still held: the process ends before it is done. */
  async abandon(): Promise<void> {
    const held = [...this.#held.values()];
    if (held.length > 0) await giveBack(this.#options.sql, held);
  }

  #room(): number {
    return this.#options.capacity - this.#held.size;
  }

  async #claim(): Promise<Job[]> {
    const limit = this.#room();
    if (limit === 0) return [];
    const { sql, name, capacity, log } = this.#options;
    const limitOfOne = Math.max(1, Math.floor(capacity * SHARE_OF_ONE));
    const room = new Map<string, number>();
    for (const { organizationId } of this.#held.values()) {
      room.set(organizationId, (room.get(organizationId) ?? limitOfOne) - 1);
    }
    try {
      return await claim(sql, { lane: name, limit, room, limitOfOne });
    } catch (error) {
      if (!isStoreUnavailable(error)) log.error({ error: describeError(error) }, 'cannot claim evaluations');
      await sleep(RETRY_MS);
      return [];
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

  async #settle(job: Job, { fate, use }: { fate: Fate; use: JudgeUse | null }): Promise<void> {
    const leaseEnds = performance.now() + LEASE_MS;
    // While Postgres is away the outcome waits here; should it take too long, the evaluation is done again.
    while (performance.now() < leaseEnds) {
      try {
        if (await settle(this.#options.sql, job, fate, use)) this.#options.onSettled(job, fate);
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
    const held: Claim[] = [...this.#held.values()];
    if (held.length === 0) return;
    await renew(this.#options.sql, held).catch((error: unknown) => {
      this.#options.log.warn({ error: describeError(error) }, 'cannot renew the claims of evaluations');
    });
  }

  #nextLook(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#wake = () => {};
        resolve();
      };
      const timer = setTimeout(done, LOOK_EVERY_MS);
      this.#wake = done;
      if (this.#isWoken) done();
    });
  }
}
