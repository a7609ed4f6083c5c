/**
 * Divides the connections to one address among organizations. Waiting organizations are served in turn, the calls of each in
 * the order of arrival. An organization may take one more connection while more are left than it holds, so that some are
 * always left for a later one: the first can take half of all, the next a quarter, and so on (Choudhury and Hahne, "Dynamic
 * queue length thresholds for shared-memory packet switches", 1998). An organization that is alone may take as many as its
 * own bound allows.
 */

/** The connections that one organization holds, and its waiting calls. */
export type Share<Item> = {
  /** Connections that its calls hold. */
  held: number;
  /** Waiting calls in the order of arrival, each with its deadline. */
  readonly waiting: Map<Item, number>;
};

/** A waiting call and the share of its organization. */
export type Queued<Item> = { item: Item; share: Share<Item> };

export type FairQueueLimits = {
  /** Connections of all organizations. */
  connections: number;
  /** Connections that one organization may hold. Twice as many of its calls may wait. */
  perOrganization: number;
  /** Waiting calls of all organizations. */
  waiting: number;
};

/** Waiting calls of an organization for each connection that it may hold: a burst of three times what fits is served, not refused. */
const WAITING_FOR_EACH = 2;

export class FairQueue<Item> {
  readonly #limits: FairQueueLimits;
  readonly #shares = new Map<string, Share<Item>>();
  /** Organizations with waiting calls, in the order of their turns. */
  readonly #turns = new Set<Share<Item>>();
  #waiting = 0;
  /** Connections held by all organizations. */
  #held = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** Returns the share of an organization. A call that does not wait costs this one look-up. */
  shareOf(organizationId: string): Share<Item> {
    let share = this.#shares.get(organizationId);
    if (share === undefined) {
      share = { held: 0, waiting: new Map() };
      this.#shares.set(organizationId, share);
    }
    return share;
  }

  /** Returns whether an organization may hold one more connection. */
  mayHold({ held }: Share<Item>): boolean {
    const left = this.#limits.connections - this.#held;
    const isAlone = held === this.#held;
    return held < this.#limits.perOrganization && left > 0 && (held < left || isAlone);
  }

  /** Counts a connection that an organization took without waiting. */
  hold(share: Share<Item>): void {
    share.held += 1;
    this.#held += 1;
  }

  /** Counts a connection that an organization gave back. */
  release(share: Share<Item>): void {
    share.held -= 1;
    this.#held -= 1;
  }

  /**
   * Queues a call. Returns the call that must be refused in exchange, which may be the same; null: there was room. In a full
   * queue, the newest call of the organization with the most waiting calls is refused, so that one organization's long queue
   * does not keep others out.
   */
  wait(share: Share<Item>, item: Item, deadline: number): Queued<Item> | null {
    if (share.waiting.size >= WAITING_FOR_EACH * this.#limits.perOrganization) return { item, share };
    share.waiting.set(item, deadline);
    this.#waiting += 1;
    this.#turns.add(share);
    if (this.#waiting <= this.#limits.waiting) return null;
    const longest = this.#longest(share);
    const newest = [...longest.waiting.keys()].at(-1)!;
    this.leave(longest, newest);
    return { item: newest, share: longest };
  }

  /** Removes a call from the queue. Does nothing if it is not there. */
  leave(share: Share<Item>, item: Item): void {
    if (!share.waiting.delete(item)) return;
    this.#waiting -= 1;
    if (share.waiting.size === 0) this.#turns.delete(share);
  }

  /** True when a waiting call may take a connection now. */
  get hasNext(): boolean {
    return this.#turns.size > 0 && this.#inTurn() !== null;
  }

  /** Removes the call whose turn it is, and counts a connection for its organization; null: no call may take one. */
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

  /** Removes the calls whose deadline has passed, and forgets organizations without calls. */
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

  /** Removes every waiting call. */
  clear(): void {
    for (const { waiting } of this.#shares.values()) waiting.clear();
    this.#turns.clear();
    this.#waiting = 0;
  }

  /** Returns the first waiting organization that may hold one more connection; null: there is none. */
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
