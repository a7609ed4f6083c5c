/** The changes that the feed carries: one row of `assay.changes` is some changes of one kind, of one organization. */
import type { JsonObject } from '../json/mod.ts';

/** The key of a request: its id alone does not find its row, because records are partitioned by time. */
export type RequestKey = { createdAt: Date; requestId: string };

/** A score that was set, by a caller or by an evaluator; null: it was removed. */
export type ScoreChange = { key: string; value: number | null };

/** A rating that was set; null: it was taken back. */
export type FeedbackChange = { rating: boolean | null };

/** A property that was set, named as its caller wrote it; null: it was removed. */
export type PropertyChange = { key: string; value: string | null };

/** An evaluation that has ended, or that was reopened after its end: then its state is `pending` or `paused`. */
export type EvaluationChange = {
  evaluation_id: string;
  evaluator_id: string;
  state: string;
  score: number | null;
  /** A probe measures the judge, and its score is not the request's. */
  is_probe: boolean;
};

/** An event of the organization that concerns no request. */
export type EventChange = EvaluatorPaused | (JsonObject & { type: string });

/** An evaluator of the organization was paused, because it cannot work without intervention. */
export type EvaluatorPaused = {
  type: 'evaluator.paused';
  evaluator_id: string;
  name: string;
  reason: string;
  message: string | null;
};

/**
 * Changes by kind. `keys` names the requests; details are parallel to it, except that an event has no keys. `record`: stored,
 * with the scores that came with it. `deleted`: erased with all that belonged to it.
 */
export type ChangesOfKind =
  | { kind: 'record' | 'deleted'; keys: readonly RequestKey[]; details: null }
  | { kind: 'score'; keys: readonly RequestKey[]; details: readonly ScoreChange[] }
  | { kind: 'feedback'; keys: readonly RequestKey[]; details: readonly FeedbackChange[] }
  | { kind: 'property'; keys: readonly RequestKey[]; details: readonly PropertyChange[] }
  | { kind: 'evaluation'; keys: readonly RequestKey[]; details: readonly EvaluationChange[] }
  | { kind: 'event'; keys: readonly []; details: readonly EventChange[] };
