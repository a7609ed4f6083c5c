/**
 * A bound on how much runs at once, shared fairly by owners: a free slot goes to the waiting owner that has the fewest
 * jobs running, and of equals to the one that has waited longest for its turn. Within one owner, jobs start in order.
 */
export type FairSlotsOptions = {
  /** Jobs that run at a time. */
  count: number;
  /** Jobs beyond `count`, each of an owner that has none running: an owner that fills all slots delays no other. */
  spare?: number;
  /** Running jobs of one owner; default: `count`. */
  ofOne?: number;
  /** Waiting jobs; a job beyond them is refused at once. */
  maxWaiting: number;
  /** Waiting jobs of one owner. */
  maxWaitingOfOne: number;
  /** How long a job waits before it is refused; default: for ever. */
  patienceMs?: number;
};

type Waiting = { settle(hasSlot: boolean): void };

export class FairSlots {
  readonly #options: FairSlotsOptions;
  readonly #runningOf = new Map<string, number>();
  /** By owner, those whose turn is longest ago first. */
  readonly #waitingOf = new Map<string, Waiting[]>();
  #running = 0;
  #waiting = 0;

  constructor(options: FairSlotsOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Runs `work` as soon as its owner gets a slot. Returns null when too many wait already, or it has waited too long. */
  async run<Result>(owner: string, work: () => Promise<Result>): Promise<Result | null> {
    if (this.#hasRoom(owner)) this.#take(owner);
    else if (!(await this.#wait(owner))) return null;
    try {
      return await work();
    } finally {
      this.#release(owner);
    }
  }

  #hasRoom(owner: string): boolean {
    const { count, spare = 0, ofOne = count } = this.#options;
    const own = this.#runningOf.get(owner) ?? 0;
    return own < ofOne && (this.#running < count || (own === 0 && this.#running < count + spare));
  }

  #take(owner: string): void {
    this.#running += 1;
    this.#runningOf.set(owner, (this.#runningOf.get(owner) ?? 0) + 1);
  }

  #release(owner: string): void {
    this.#running -= 1;
    const left = this.#runningOf.get(owner)! - 1;
    if (left === 0) this.#runningOf.delete(owner);
    else this.#runningOf.set(owner, left);
    for (let next = this.#next(); next !== null; next = this.#next()) this.#start(next);
  }

  /** The owner whose first waiting job is to start now; null when none may. */
  #next(): string | null {
    let chosen: string | null = null;
    let fewest = Number.POSITIVE_INFINITY;
    for (const owner of this.#waitingOf.keys()) {
      const own = this.#runningOf.get(owner) ?? 0;
      if (own < fewest && this.#hasRoom(owner)) [chosen, fewest] = [owner, own];
    }
    return chosen;
  }

  /** Counts the job as running before its own code goes on, so that no other takes its slot meanwhile. */
  #start(owner: string): void {
    const first = this.#waitingOf.get(owner)![0]!;
    this.#remove(owner, first);
    const others = this.#waitingOf.get(owner);
    if (others !== undefined) {
      this.#waitingOf.delete(owner);
      this.#waitingOf.set(owner, others);
    }
    this.#take(owner);
    first.settle(true);
  }

  async #wait(owner: string): Promise<boolean> {
    const { maxWaiting, maxWaitingOfOne, patienceMs } = this.#options;
    const own = this.#waitingOf.get(owner) ?? [];
    if (this.#waiting >= maxWaiting || own.length >= maxWaitingOfOne) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const one: Waiting = { settle: resolve };
    own.push(one);
    this.#waitingOf.set(owner, own);
    this.#waiting += 1;
    if (patienceMs === undefined) return await promise;
    const timer = setTimeout(() => {
      this.#remove(owner, one);
      resolve(false);
    }, patienceMs);
    const hasSlot = await promise;
    clearTimeout(timer);
    return hasSlot;
  }

  #remove(owner: string, one: Waiting): void {
    const own = this.#waitingOf.get(owner);
    const index = own?.indexOf(one) ?? -1;
    if (index === -1) return;
    own!.splice(index, 1);
    this.#waiting -= 1;
    if (own!.length === 0) this.#waitingOf.delete(owner);
  }
}
