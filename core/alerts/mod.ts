/** The state machine of alerts: readings in, fired and resolved events out. */
export {
  type AlertEvent,
  type AlertRule,
  COMPARISONS,
  type Comparison,
  evaluate,
  MOST_GROUPS,
  type Reading,
  resolveAll,
  SEVERITIES,
  type Severity,
  type TrackedGroup,
  thresholdOf,
} from './evaluate.ts';
export { countedGapMs, NO_DATA, type NoData } from './step.ts';
