/**
 * The client of the call under way: when it disconnects, the statement that is running for it is cancelled. Kept beside the
 * call, as its actor is, so that no service has to pass it on.
 *
 * Postgres cancels what a process runs at the moment, not a statement that can be named. Three rules keep a cancellation
 * from hitting the work of another call on the same connection:
 * 1. Only transactions are cancelled. Until it ends, the connection serves no other call.
 * 2. The transaction does not end before each cancellation was answered. By then its signal is pending at the process, which
 *    takes it before anything that is sent later, and drops it when it runs nothing.
 * 3. The process is named together with the beginning of its transaction, so that a process that took over the id of one
 *    that died is not meant.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import type { Waits } from '../process/fair-slots.ts';

/** A process of Postgres in its transaction, as `TRANSACTION` selects it. */
export type Place = { pid: number; began: string };

type Client = {
  /** Aborts when the client disconnects. Read only for transactions, as making it has a price. */
  readonly signal: AbortSignal;
};

type Noted = {
  client: Client;
  sql: postgres.Sql;
  isReading: boolean | null;
  isUrgent: boolean;
  isBegun: boolean;
};

/**
 * Time between cancellations. Each is dropped when the process runs nothing at its moment: between two statements, or when
 * the statement is still on its way.
 */
const REPEAT_MS = 50;

const clients = new AsyncLocalStorage<Noted>();

/**
 * Runs a call of a client. The transactions that it makes after `noteReading(true)` end when the client disconnects.
 * @param sql the pool whose connections send cancellations: another than the one whose statements are cancelled, which may
 *   have no connection left. It must connect as the same user.
 */
export function withClient<T>(client: Client, sql: postgres.Sql, call: () => T): T {
  return clients.run({ client, sql, isReading: null, isUrgent: false, isBegun: false }, call);
}

/**
 * Notes whether the call under way only reads. Transactions of a call that writes are left alone, even when parts of it only
 * read. Does nothing outside of `withClient`.
 */
export function noteReading(isReading: boolean): void {
  const noted = clients.getStore();
  if (noted !== undefined) noted.isReading = noted.isReading !== false && isReading;
}

/** Returns whether the call under way may have written: it was noted not to be only reading. */
export function mayHaveWritten(): boolean {
  return clients.getStore()?.isReading === false;
}

/**
 * Notes that the transactions of the call under way come before all others of the organization: it is how the organization helps
 * itself, as the end of a key is. Does nothing outside of `withClient`.
 */
export function noteUrgent(): void {
  const noted = clients.getStore();
  if (noted !== undefined) noted.isUrgent = true;
}

/** Notes that the call under way has begun what must not be left half done: from now on it is refused no transaction. */
export function noteBegun(): void {
  const noted = clients.getStore();
  if (noted !== undefined) noted.isBegun = true;
}

const URGENT = 2;
/** Calls that are under way come before new ones. */
const BEGUN = 1;

/**
 * Returns how a transaction of the call under way waits for a connection.
 * @param isContinued it goes on with what was begun outside of the call, such as an answer, or what has one of few places
 */
export function currentWaits(isContinued: boolean): Required<Omit<Waits, 'signal'>> {
  const noted = clients.getStore();
  const isBegun = isContinued || noted?.isBegun === true;
  return { rank: noted?.isUrgent === true ? URGENT : isBegun ? BEGUN : 0, isBegun };
}

/** Runs a transaction whose statements are cancelled when a client disconnects. */
export type Cancelling = <T>(place: Place, work: () => Promise<T>) => Promise<T>;

/**
 * Returns what cancels the statements of a transaction of the call under way; null: it is to run to its end.
 * @throws the reason of the signal when the client has disconnected
 */
export function currentCancelling(): Cancelling | null {
  const noted = clients.getStore();
  if (noted?.isReading !== true) return null;
  const { sql } = noted;
  const { signal } = noted.client;
  signal.throwIfAborted();
  return (place, work) => cancelledBy(signal, () => cancel(sql, place), work);
}

/** Runs `work`. From the signal on, cancels until it has ended. Rejects with the signal's reason when that cut it short. */
async function cancelledBy<T>(
  signal: AbortSignal,
  cancelOnce: () => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const ended = new AbortController();
  let cancelling: Promise<void> | null = null;
  const onAbort = () => {
    cancelling = repeatUntil(ended.signal, cancelOnce);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await work();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    ended.abort();
    await cancelling;
  }
}

async function repeatUntil(ended: AbortSignal, cancelOnce: () => Promise<unknown>): Promise<void> {
  while (!ended.aborted) {
    // Without cancellation the statement ends by its timeout.
    await cancelOnce().catch(() => {});
    await sleep(REPEAT_MS, undefined, { signal: ended }).catch(() => {});
  }
}

/** Resolves when Postgres has sent the signal to the process; it is the process's turn then. */
async function cancel(sql: postgres.Sql, { pid, began }: Place): Promise<void> {
  await sql`
    select pg_cancel_backend(pid) from pg_stat_get_activity(${pid}) where xact_start = ${began}::text::timestamptz`;
}
