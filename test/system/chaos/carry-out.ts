/** Does to a world what the plan says. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultKind, GatewayName, Target } from './faults.ts';
import { readMetric } from './metrics.ts';
import type { Service } from './service.ts';
import type { Fill } from './verdict.ts';
import type { World } from './world.ts';

/** A fault of the plan as it went. */
export type FaultNote = Fault & {
  beganMs: number;
  endedMs: number;
  /** False: there was nobody to do it to, as the target had not recovered from what came before. */
  isDone: boolean;
};

/** A gateway measures its outboxes once a second, and so long a call may be under way that was begun before. */
const SETTLED_MS = 2_000;
const UP_WITHIN_MS = 60_000;

export class FaultRunner {
  readonly notes: FaultNote[] = [];
  readonly fills: Fill[] = [];
  readonly #world: World;
  readonly #now: () => number;
  readonly #active = new Map<Target, Fault>();
  #failure: unknown = null;

  /** @param now milliseconds since the run's beginning */
  constructor(world: World, now: () => number) {
    this.#world = world;
    this.#now = now;
  }

  /** What is wrong just now. */
  get active(): Fault[] {
    return [...this.#active.values()];
  }

  /**
   * Carries the plan out, and resolves when the last fault is over.
   * @throws when a fault cannot be carried out for a reason of the machine's
   */
  async run(plan: readonly Fault[], signal: AbortSignal): Promise<void> {
    const running: Promise<void>[] = [];
    for (const fault of plan) {
      await sleep(Math.max(0, fault.atMs - this.#now()), undefined, { signal }).catch(() => {});
      if (signal.aborted || this.#failure !== null) break;
      running.push(
        this.#carryOut(fault).catch((error: unknown) => {
          this.#failure ??= error;
        }),
      );
    }
    await Promise.all(running);
    if (this.#failure !== null) throw this.#failure;
  }

  async #carryOut(fault: Fault): Promise<void> {
    const beganMs = this.#now();
    const isBusy = this.#active.has(fault.target);
    let isDone = false;
    if (!isBusy) {
      this.#active.set(fault.target, fault);
      try {
        isDone = await this.#do(fault);
      } finally {
        this.#active.delete(fault.target);
      }
    }
    this.notes.push({ ...fault, beganMs, endedMs: this.#now(), isDone });
  }

  async #do({ kind, target, forMs }: Fault): Promise<boolean> {
    if (target === 'postgres') return await this.#toPostgres(kind, forMs);
    if (target === 'nats') return await this.#toNats(kind, forMs);
    if (kind === 'fill') return await this.#fill(target as GatewayName, forMs);
    const service = this.#serviceOf(target);
    if (kind === 'freeze') return await service.freeze(forMs);
    return kind === 'kill' ? service.kill(forMs) : await service.terminate(forMs);
  }

  #serviceOf(target: Target): Service {
    return this.#world.services.find(({ name }) => name === target)!;
  }

  async #toPostgres(kind: FaultKind, forMs: number): Promise<boolean> {
    const { postgres } = this.#world;
    if (kind === 'cut') await postgres.cut(forMs);
    else if (kind === 'freeze') await postgres.freeze(forMs);
    else await postgres.crash(forMs);
    return true;
  }

  async #toNats(kind: FaultKind, forMs: number): Promise<boolean> {
    const { nats } = this.#world;
    if (kind === 'freeze') {
      nats.process.kill('SIGSTOP');
      await sleep(forMs);
      return nats.process.kill('SIGCONT');
    }
    const ended = once(nats.process, 'exit');
    nats.process.kill(kind === 'terminate' ? 'SIGTERM' : 'SIGKILL');
    await ended;
    await sleep(forMs);
    await nats.restart({ emptied: kind === 'empty' });
    return true;
  }

  async #fill(name: GatewayName, forMs: number): Promise<boolean> {
    const { service, disk } = this.#world.gateways[name];
    if (!(await service.comesUp(UP_WITHIN_MS))) return false;
    const { life } = service;
    const fromMs = this.#now();
    disk.fill();
    await sleep(forMs);
    disk.empty();
    const untilMs = this.#now();
    await sleep(SETTLED_MS);
    const notLogged = await readMetric(service.url, 'assay_not_logged_total');
    const countedMs = this.#now();
    this.fills.push({ server: name, life, fromMs, untilMs, countedMs, notLogged });
    return true;
  }
}
