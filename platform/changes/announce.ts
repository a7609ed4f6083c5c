/**
 * Announcing changes to the sinks, which sleep while there are none. Not in the transaction that makes the change: Postgres lets
 * transactions that notify commit one after the other, each with its write to the disk. Afterwards and by itself, a
 * notification writes nothing.
 */
import { CHANGES_CHANNEL } from '#core/contracts/channels.ts';
import type { Sql } from '../postgres/mod.ts';
import { onlyEvery } from '../process/only-every.ts';

/** A sink that has found changes looks again after a second anyway. */
const EVERY_MS = 1_000;

/**
 * Returns the function that announces changes that are committed: at once, and those of the following second together. When it
 * fails, the sinks find the changes at their next look.
 */
export function createChangeAnnouncer(sql: Sql): () => void {
  return onlyEvery(EVERY_MS, () => {
    sql`select pg_notify(${CHANGES_CHANNEL}, '')`.catch(() => {});
  });
}
