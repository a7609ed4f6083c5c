/** One evaluation of an alert: from the reading of each group to its next state and its events. */
import { type LevelState, type Moment, type NoData, type Observation, OK, step } from './step.ts';

export const COMPARISONS = ['>', '>=', '<', '<='] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** The severities of an alert, the gravest first. Each fires and is resolved independently. */
export const SEVERITIES = ['critical', 'warning'] as const;
export type Severity = (typeof SEVERITIES)[number];

export type AlertRule = {
  readonly comparison: Comparison;
  /** Threshold of severity critical. */
  readonly threshold: number;
  /** Threshold of severity warning; null: none. */
  readonly warning: number | null;
  readonly forMs: number;
  readonly noData: NoData;
};

/** The group of a reading: the value of each grouping; empty without a grouping. */
type Group = Readonly<Record<string, string | number | null>>;
/** Measured value of a group; null: no data. */
export type Reading = { readonly group: Group; readonly value: number | null };
/** A group whose state is kept until the next evaluation. `value` is the last measured one. */
export type TrackedGroup = Reading & { readonly levels: Readonly<Record<Severity, LevelState>> };

/** `value` is the one that this evaluation measured. */
export type AlertEvent = Reading & {
  readonly severity: Severity;
  readonly event: 'fired' | 'resolved';
};

export type Evaluation = {
  readonly groups: readonly TrackedGroup[];
  readonly events: readonly AlertEvent[];
  /** Groups that could not be tracked, because there are too many. */
  readonly skipped: number;
};

/** Maximum groups that an alert tracks. */
export const MOST_GROUPS = 100;

/** Returns whether a value is beyond a threshold. */
function isBeyond(value: number, comparison: Comparison, threshold: number): boolean {
  switch (comparison) {
    case '>':
      return value > threshold;
    case '>=':
      return value >= threshold;
    case '<':
      return value < threshold;
    case '<=':
      return value <= threshold;
  }
}

/** Returns the threshold of a severity; null: the alert does not have the severity. */
export function thresholdOf({ threshold, warning }: AlertRule, severity: Severity): number | null {
  return severity === 'critical' ? threshold : warning;
}

const WELL: TrackedGroup['levels'] = { critical: OK, warning: OK };

/**
 * Evaluates an alert. Groups in state ok are dropped, unless their absence would be an alert.
 * @param before the groups of the previous evaluation, at most MOST_GROUPS
 * @param readings one for each group; without a grouping, one for the empty group
 */
export function evaluate(
  rule: AlertRule,
  before: readonly TrackedGroup[],
  readings: readonly Reading[],
  moment: Moment,
): Evaluation {
  const found = new Map(readings.map((reading) => [keyOf(reading.group), reading]));
  const events: AlertEvent[] = [];
  const groups: TrackedGroup[] = [];
  let skipped = 0;

  for (const tracked of before) {
    const key = keyOf(tracked.group);
    const { value } = found.get(key) ?? { value: null };
    found.delete(key);
    const next = stepGroup(rule, tracked, value, moment);
    events.push(...next.events);
    if (isWorthTracking(rule, next.group)) groups.push(next.group);
  }
  for (const { group, value } of found.values()) {
    const next = stepGroup(rule, { group, value: null, levels: WELL }, value, moment);
    if (!isWorthTracking(rule, next.group)) continue;
    if (groups.length === MOST_GROUPS) {
      skipped += 1;
      continue;
    }
    events.push(...next.events);
    groups.push(next.group);
  }
  return { groups, events, skipped };
}

/** Resolves everything that is firing, for example when an alert is deleted. `severities`: only these. */
export function resolveAll(
  groups: readonly TrackedGroup[],
  severities: readonly Severity[] = SEVERITIES,
): AlertEvent[] {
  return groups.flatMap(({ group, levels }) =>
    severities
      .filter((severity) => levels[severity].kind === 'firing')
      .map((severity) => ({ group, value: null, severity, event: 'resolved' as const })),
  );
}

function isWorthTracking(rule: AlertRule, { levels }: TrackedGroup): boolean {
  return rule.noData === 'alert' || SEVERITIES.some((severity) => levels[severity].kind !== 'ok');
}

function stepGroup(
  rule: AlertRule,
  tracked: TrackedGroup,
  value: number | null,
  moment: Moment,
): { group: TrackedGroup; events: AlertEvent[] } {
  const { group } = tracked;
  const events: AlertEvent[] = [];
  const next = (severity: Severity): LevelState => {
    const threshold = thresholdOf(rule, severity);
    if (threshold === null) return OK;
    const { state, event } = step(
      tracked.levels[severity],
      observe(value, rule.comparison, threshold),
      rule,
      moment,
    );
    if (event !== null) events.push({ group, value, severity, event });
    return state;
  };
  const levels = { critical: next('critical'), warning: next('warning') };
  return { group: { group, value: value ?? tracked.value, levels }, events };
}

function observe(value: number | null, comparison: Comparison, threshold: number): Observation {
  if (value === null) return 'missing';
  return isBeyond(value, comparison, threshold) ? 'exceeded' : 'clear';
}

/** Returns a unique key of a group: JSON with its members in order. */
function keyOf(group: Group): string {
  return JSON.stringify(Object.entries(group).sort(([a], [b]) => (a < b ? -1 : 1)));
}
