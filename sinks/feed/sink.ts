import type { ChangesOfKind } from '#core/contracts/changes.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

/** Changes of one kind that one transaction made, of one organization. */
export type Change = {
  /** Number of the change: unique, and kept by a restore. A transaction's changes are in its order, those of others may not be. */
  seq: string;
  organizationId: string;
  /** Time at which its transaction began. */
  at: Date;
} & ChangesOfKind;

/** A follower of the changes. */
export type Sink = {
  /** Name of its cursor in the feed, which must never change. */
  name: string;
  /**
   * Applies changes, in the transaction that moves the sink's cursor behind them: both or neither. An error rolls it back, and
   * the same changes come again, later and fewer at a time. Keep it short: while it runs, no sink sees later commits.
   */
  apply(tx: TransactionSql, changes: readonly Change[]): Promise<void>;
  /**
   * Brings the effect up to date without the feed, which does not reach back far enough. The changes of transactions that have
   * not ended when it is called come by the feed afterwards.
   * @param sinceMs all changes before this time (ms since the epoch) were applied; null: none were, the sink is new
   */
  resume(tx: TransactionSql, sinceMs: number | null): Promise<void>;
};

/**
 * Thrown by a sink whose batch took too long, for a reason that may pass or be the batch's size: the same changes come again, far
 * fewer at a time, and no failure is counted.
 */
export class BatchLate extends Error {
  override readonly name = 'BatchLate';
}

/** A signal that wakes those who follow the changes. */
export type ChangeSignal = {
  /** Calls `wake` when there may be changes. */
  follow(wake: () => void): void;
  /** Returns how long a follower may sleep without being woken, in milliseconds. */
  longestSleepMs(): number;
};

export type RunningSink = {
  /** Ends after the batch under way. */
  stop(): Promise<void>;
};
