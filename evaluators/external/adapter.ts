import type { ExternalConfig, ExternalSecrets } from '#core/contracts/external.ts';
import type { Subject } from '#core/scoring/mod.ts';
import type { Outbound } from '#platform/outbound/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { ExternalFailure } from './failure.ts';
import type { RunScorer } from './run-scorer.ts';

/** One thing to be scored. */
export type ExternalItem = {
  /** The same for every attempt, so that a service can tell a repetition from a new evaluation. */
  evaluationId: string;
  subject: Subject;
};

export type ExternalCall<C extends ExternalConfig = ExternalConfig> = {
  config: C;
  secrets: ExternalSecrets;
  evaluator: { id: string; version: number; name: string };
  outbound: Outbound;
  clock: Clock;
  runScorer: RunScorer;
  /** Ends the call: what is under way rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
};

/** What an adapter got, not looked at yet. */
export type Verdict = { score: unknown; reasoning?: unknown };

/** How scores are got from one kind of evaluator. */
export type ExternalAdapter<C extends ExternalConfig> = {
  /** How many items one call may hold. */
  readonly maxItems: number;
  /**
   * Scores all items in one call.
   * @returns one verdict or failure for each item, in their order
   * @throws ExternalFailure when none of them has a score
   */
  score(call: ExternalCall<C>, items: readonly ExternalItem[]): Promise<(Verdict | ExternalFailure)[]>;
};
