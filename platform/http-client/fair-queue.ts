/**
 * Shares the connections to one address out among organizations. Where calls have to wait, organizations are served in
 * turn, the calls of one in the order they came. An organization may take one more connection while more are left than it
 * holds, so that some are always left for one that comes later: the first can take half of all, the next a quarter, and so
 * on (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998). One that has no
 * neighbour may take as many as its own bound says.
 */

/** What one organization holds of a pool, and what it waits for. */
export type Share<Item> = {
  /** Connections that its calls hold. */
  held: number;
  /** Its waiting calls in the order they came, each with the moment at which it is given up. */
  readonly waiting: Map<Item, number>;
};

/** A call in line, and whose it is. */
export type Queued<Item> = { item: Item; share: Share<Item> };

export type FairQueueLimits = {
  /** Connections to the address, of all organizations together. */
  connections: number;
  /** Connections that one organization may hold; as many of its calls may wait. */
  perOrganization: number;
  /** Calls that may wait, of all organizations together. */
  waiting: number;
};

export class FairQueue<Item> {
  readonly #limits: FairQueueLimits;
  readonly #shares = new Map<string, Share<Item>>();
  /** The organizations that wait, in the order of their turns. */
  readonly #turns = new Set<Share<Item>>();
  #waiting = 0;
  /** Connections that calls of any organization hold. */
  #held = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** Returns the share of an organization: the one look-up that a call costs which does not wait. */
  shareOf(organizationId: string): Share<Item> {
    let share = this.#shares.get(organizationId);
    if (share === undefined) {
      share = { held: 0, waiting: new Map() };
      this.#shares.set(organizationId, share);
    }
    return share;
  }

  /** Whether an organization may hold one more connection. */
  mayHold({ held }: Share<Item>): boolean {
    const left = this.#limits.connections - this.#held;
    const isAlone = held === this.#held;
    return held < this.#limits.perOrganization && left > 0 && (held < left || isAlone);
  }

  /** Notes that an organization's call has a connection without having waited. */
  hold(share: Share<Item>): void {
    share.held += 1;
    this.#held += 1;
  }

  /** Notes that an organization's call has let its connection go. */
  release(share: Share<Item>): void {
    share.held -= 1;
    this.#held -= 1;
  }

  /**
   * Lets a call wait, and returns the one that must be refused for it, which may be itself; null: there was room. Where
   * all places are taken, the newest call of the organization with the most waiting calls has to go, so that a long line
   * keeps no other organization out.
   */
  wait(share: Share<Item>, item: Item, deadline: number): Queued<Item> | null {
    if (share.waiting.size >= this.#limits.perOrganization) return { item, share };
    share.waiting.set(item, deadline);
    this.#waiting += 1;
    this.#turns.add(share);
    if (this.#waiting <= this.#limits.waiting) return null;
    const longest = this.#longest(share);
    const newest = [...longest.waiting.keys()].at(-1)!;
    this.leave(longest, newest);
    return { item: newest, share: longest };
  }

  /** Takes a call out of its line. Harmless when it is not there. */
  leave(share: Share<Item>, item: Item): void {
    if (!share.waiting.delete(item)) return;
    this.#waiting -= 1;
    if (share.waiting.size === 0) this.#turns.delete(share);
  }

  /** Whether a waiting call may have a connection now. */
  get hasNext(): boolean {
    return this.#turns.size > 0 && this.#inTurn() !== null;
  }

  /** Takes the call whose turn it is, for a connection that its organization holds from now on; null: none may go. */
  next(): Queued<Item> | null {
    const share = this.#inTurn();
    if (share === null) return null;
    const item = share.waiting.keys().next().value as Item;
    this.#turns.delete(share);
    this.leave(share, item);
    this.hold(share);
    if (share.waiting.size > 0) this.#turns.add(share);
    return { item, share };
  }

  /** Takes out the calls that have waited until their deadline, and forgets the organizations without any call. */
  takeExpired(now: number): Queued<Item>[] {
    const late: Queued<Item>[] = [];
    for (const [organizationId, share] of this.#shares) {
      for (const [item, deadline] of share.waiting) {
        if (deadline > now) break;
        this.leave(share, item);
        late.push({ item, share });
      }
      if (share.held === 0 && share.waiting.size === 0) this.#shares.delete(organizationId);
    }
    return late;
  }

  /** Empties every line. */
  clear(): void {
    for (const { waiting } of this.#shares.values()) waiting.clear();
    this.#turns.clear();
    this.#waiting = 0;
  }

  /** The organization whose turn it is among those that may hold one more connection. */
  #inTurn(): Share<Item> | null {
    for (const share of this.#turns) if (this.mayHold(share)) return share;
    return null;
  }

  #longest(own: Share<Item>): Share<Item> {
    let longest = own;
    for (const share of this.#shares.values()) if (share.waiting.size > longest.waiting.size) longest = share;
    return longest;
  }
}
