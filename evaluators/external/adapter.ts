import type { CalledConfig, ExternalSecrets } from '#core/contracts/external.ts';
import type { Subject } from '#core/scoring/mod.ts';
import type { Outbound } from '#platform/outbound/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { ExternalFailure } from './failure.ts';

/** One evaluation: a subject to be scored. */
export type ExternalItem = {
  /** The same for every attempt, so that a service can tell a repeated attempt from a new evaluation. */
  evaluationId: string;
  subject: Subject;
};

/** Everything an adapter needs for calls of one evaluator. */
export type ExternalCall<C extends CalledConfig = CalledConfig> = {
  config: C;
  secrets: ExternalSecrets;
  evaluator: { id: string; version: number; name: string };
  outbound: Outbound;
  clock: Clock;
  /** Ends the call: pending work rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
};

/** A score as the adapter got it, before it is checked. */
export type UncheckedScore = { score: unknown; reasoning?: unknown };

/** Gets scores from one kind of EXTERNAL evaluator. */
export type ExternalAdapter<C extends CalledConfig> = {
  /** Maximum number of items in one call. */
  readonly maxItems: number;
  /**
   * Scores all items in one call.
   * @returns one score or failure for each item, in the order of `items`
   * @throws ExternalFailure when all items fail for the same reason
   */
  score(call: ExternalCall<C>, items: readonly ExternalItem[]): Promise<(UncheckedScore | ExternalFailure)[]>;
};
