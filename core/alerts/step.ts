/** State of one group at one severity, and its change by each evaluation. */

/** `pending`: the threshold has been exceeded for `heldMs`; `firing`: it was exceeded for long enough. */
export type LevelState =
  | { readonly kind: 'ok' }
  | { readonly kind: 'pending'; readonly heldMs: number }
  | { readonly kind: 'firing'; readonly sinceMs: number };

/** Finding of an evaluation; `missing`: no data. */
export type Observation = 'exceeded' | 'clear' | 'missing';

/** Meaning of missing data: as if clear, as if exceeded, or no change of state. */
export const NO_DATA = ['ok', 'alert', 'keep'] as const;
export type NoData = (typeof NO_DATA)[number];

export type StepRule = {
  /** Time that the threshold must be exceeded before it fires; 0: at once. */
  readonly forMs: number;
  readonly noData: NoData;
};

export type Moment = {
  readonly nowMs: number;
  /** Part of the time since the previous evaluation that counts, see `countedGapMs`; 0 for the first one. */
  readonly elapsedMs: number;
};

export type Step = { readonly state: LevelState; readonly event: 'fired' | 'resolved' | null };

/**
 * Upper bound on the time that counts between two evaluations. They are a minute apart; after an outage nothing is known about
 * the time between, so the threshold must be exceeded again. More would let one value before an outage and one after it fire;
 * less would delay alerts where a round of evaluations takes longer than a minute.
 */
const LONGEST_GAP_MS = 180_000;

/** Returns how much of the time between two evaluations counts. */
export function countedGapMs(fromMs: number, toMs: number): number {
  return Math.min(Math.max(0, toMs - fromMs), LONGEST_GAP_MS);
}

export const OK: LevelState = { kind: 'ok' };

/** Returns the next state. Fired and resolved alternate strictly; the step that changes the state reports it, once. */
export function step(
  state: LevelState,
  observation: Observation,
  rule: StepRule,
  { nowMs, elapsedMs }: Moment,
): Step {
  if (observation === 'missing') {
    if (rule.noData === 'keep') return { state, event: null };
    return step(state, rule.noData === 'alert' ? 'exceeded' : 'clear', rule, { nowMs, elapsedMs });
  }
  if (observation === 'clear') return { state: OK, event: state.kind === 'firing' ? 'resolved' : null };
  if (state.kind === 'firing') return { state, event: null };
  const heldMs = state.kind === 'ok' ? 0 : state.heldMs + elapsedMs;
  if (heldMs < rule.forMs) return { state: { kind: 'pending', heldMs }, event: null };
  return { state: { kind: 'firing', sinceMs: nowMs }, event: 'fired' };
}
