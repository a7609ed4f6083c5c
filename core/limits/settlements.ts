/**
 * What the store is to be told of costs: kept in memory until it has heard it, sent in batches behind the calls. That a
 * call was admitted without the store comes before what it cost.
 */
import type { Clock } from '../clock.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Account } from './account.ts';
import type { Availability } from './availability.ts';
import type { LimitStore, Settlement } from './store.ts';

export type Settlements = {
  /** A reservation that the store may not have: it was admitted at `at`, on the monotonic clock, without it. */
  addMissed(account: Account, reservationId: string, estimateNano: number, at: number): void;
  /** The first settlement of a reservation counts. */
  add(settlement: Settlement): void;
  /** Sends all that waits. Rejects when the store is away. */
  flush(): Promise<void>;
  /** Settlements that the store does not have yet. */
  waiting(): number;
};

export type SettlementsOptions = {
  clock: Clock;
  log: Logger;
  store: LimitStore;
  availability: Availability;
};

/** Of settlements, and of missed reservations: 200 bytes each. Beyond, the oldest estimates stand. */
const MAX_WAITING = 100_000;
const SENT_AT_ONCE = 500;
/** How long settlements wait for others. */
const GATHER_MS = 5;
const RETRY_MS = 250;
/** SQLSTATEs of what can never be stored, however often it is tried. */
const INVALID_DATA = /^22/;

type Missed = { account: Account; reservationId: string; estimateNano: number; at: number };

/** Makes the queue of a process. */
export function createSettlements(options: SettlementsOptions): Settlements {
  const { clock, log, store, availability } = options;
  const missed = new Map<string, Missed>();
  const settlements = new Map<string, Settlement>();
  let flushing: Promise<void> | undefined;
  let gathering: NodeJS.Timeout | undefined;

  function keep<T>(map: Map<string, T>, name: string, value: T): void {
    map.set(name, value);
    if (map.size <= MAX_WAITING) return;
    const [oldest] = map.keys();
    map.delete(oldest!);
    log.error({ reservation: oldest }, 'too many costs wait for the counters; an estimate stands');
  }

  function sendAfter(ms: number): void {
    if (gathering !== undefined) return;
    const send = () => {
      gathering = undefined;
      if (availability.isAway()) return sendAfter(RETRY_MS);
      flush().catch((error) => {
        availability.report(error);
        sendAfter(RETRY_MS);
      });
    };
    gathering = setTimeout(send, ms).unref();
  }

  function flush(): Promise<void> {
    flushing ??= sendAll().finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  async function sendAll(): Promise<void> {
    while (missed.size > 0 || settlements.size > 0) {
      for (const [account, names] of groupByAccount(missed)) await sendMissed(account, names);
      await sendSettlements();
    }
  }

  async function sendMissed(account: Account, names: readonly string[]): Promise<void> {
    const now = clock.monotonic();
    const batch = names.map((name) => {
      const { reservationId, estimateNano, at } = missed.get(name)!;
      return { reservationId, estimateNano, ageMs: Math.floor(now - at) };
    });
    await inGoodPart(batch, (part) => store.reserve(account, part, true));
    for (const name of names) missed.delete(name);
  }

  async function sendSettlements(): Promise<void> {
    // Who was admitted without the store since has the next turn.
    const batch = [...settlements].filter(([name]) => !missed.has(name)).slice(0, SENT_AT_ONCE);
    if (batch.length === 0) return;
    await inGoodPart(
      batch.map(([, settlement]) => settlement),
      store.settle,
    );
    for (const [name] of batch) settlements.delete(name);
  }

  /** Tells all that can be stored: of a batch that cannot, one by one. */
  async function inGoodPart<T>(
    batch: readonly T[],
    tell: (part: readonly T[]) => Promise<unknown>,
  ): Promise<void> {
    try {
      await tell(batch);
    } catch (error) {
      if (!INVALID_DATA.test(String((error as { code?: unknown }).code))) throw error;
      if (batch.length === 1) {
        log.error({ error: describeError(error) }, 'the counters cannot hold a cost; its estimate stands');
        return;
      }
      for (const one of batch) await inGoodPart([one], tell);
    }
  }

  return {
    addMissed(account, reservationId, estimateNano, at) {
      const name = nameOf(account.counter.organizationId, reservationId);
      keep(missed, name, { account, reservationId, estimateNano, at });
      sendAfter(RETRY_MS);
    },
    add(settlement) {
      const name = nameOf(settlement.organizationId, settlement.reservationId);
      if (settlements.has(name)) return;
      keep(settlements, name, settlement);
      sendAfter(GATHER_MS);
    },
    flush,
    waiting: () => settlements.size,
  };
}

const nameOf = (organizationId: string, reservationId: string) => `${organizationId} ${reservationId}`;

function groupByAccount(missed: ReadonlyMap<string, Missed>): Map<Account, string[]> {
  const groups = new Map<Account, string[]>();
  for (const [name, { account }] of missed) {
    const names = groups.get(account);
    if (names === undefined) groups.set(account, [name]);
    else if (names.length < SENT_AT_ONCE) names.push(name);
  }
  return groups;
}
