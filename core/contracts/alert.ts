/** Alerts: the bodies that define them, and the responses. */
import { type Static, Type } from '@sinclair/typebox';
import { COMPARISONS, NO_DATA, SEVERITIES } from '../alerts/mod.ts';
import { MetricsQueryBody } from './metrics.ts';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

const MAX_NAME_LENGTH = 100;
const MINUTES_A_DAY = 1_440;
/** 30 days. */
const MAX_WINDOW_MINUTES = 30 * MINUTES_A_DAY;
const MAX_WEBHOOKS = 10;
/** A week of the past. */
const MAX_HOURS = 168;
export const DEFAULT_HOURS = 24;
/** Maximum entries of one page. */
export const HISTORY_PAGE = 100;

const { range, bucket, timeZone, limit, orderBy, compareWith, measures, groupBy, ...where } =
  MetricsQueryBody.properties;

/** The query of an alert: a metrics query with one measure, without its range. */
const AlertQuery = Type.Object(
  {
    measures: Type.Array(measures.items, { minItems: 1, maxItems: 1 }),
    groupBy: Type.Optional(
      Type.Array(groupBy.items, {
        maxItems: 1,
        description: 'At most one: then each group is watched by itself, at most 100 of them',
      }),
    ),
    ...where,
  },
  { ...closed, description: 'As for POST /v1/metrics/query, with one measure' },
);
export type AlertQuery = Static<typeof AlertQuery>;

const definition = {
  query: AlertQuery,
  window_minutes: Type.Integer({
    minimum: 1,
    maximum: MAX_WINDOW_MINUTES,
    description: 'The measure covers the requests of this many minutes, up to the last full one',
  }),
  comparison: Type.Unsafe<(typeof COMPARISONS)[number]>({
    ...OneOf(COMPARISONS),
    description: 'The alert fires when the value compares to the threshold in this way',
  }),
  threshold: Type.Number({ description: "Beyond it, the alert is critical; in the measure's unit" }),
  warning: Type.Optional(
    Nullable(
      Type.Number(),
      'A threshold that is passed earlier: beyond it the alert is a warning, which fires and is resolved independently',
    ),
  ),
  for_minutes: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MINUTES_A_DAY,
      description:
        'Minutes that the value must be beyond the threshold before the alert fires. Default: 0, at once',
    }),
  ),
  no_data: Type.Optional(
    Type.Unsafe<(typeof NO_DATA)[number]>({
      ...OneOf(NO_DATA),
      description:
        'Meaning of a missing value: as if not beyond the threshold, as if beyond it, or no change of state. Default: ok',
    }),
  ),
};

const WebhookId = Type.String({
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
  rule: 'must be a UUID',
});

const fields = {
  name: Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }),
  ...definition,
  webhooks: Type.Optional(
    Type.Union([Type.Literal('all'), Type.Array(WebhookId, { maxItems: MAX_WEBHOOKS, uniqueItems: true })], {
      description:
        'Ids of the webhooks to notify, among those with the events alert.fired or alert.resolved. Default: all of them',
      rule: 'must be "all" or a list of ids of webhooks',
    }),
  ),
  enabled: Type.Optional(Type.Boolean({ description: 'False: it is not evaluated. Default: true' })),
};

/** The body that creates an alert. */
export const AlertBody = Type.Object(fields, closed);
export type AlertBody = Static<typeof AlertBody>;

/** The body that changes an alert: fields that are absent stay as they are. */
export const AlertPatch = Type.Partial(AlertBody, { ...closed, minProperties: 1 });
export type AlertPatch = Static<typeof AlertPatch>;

/** The body that tests an alert on the past. */
export const AlertTestBody = Type.Object(
  {
    alert: AlertBody,
    hours: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_HOURS, description: `Default: ${DEFAULT_HOURS}` }),
    ),
  },
  closed,
);
export type AlertTestBody = Static<typeof AlertTestBody>;

const Group = Type.Record(Type.String(), Nullable(Type.Union([Type.String(), Type.Number()])), {
  description: 'The value of the grouping; empty without one',
});
const SeverityName = Type.Unsafe<(typeof SEVERITIES)[number]>({
  ...OneOf(SEVERITIES),
  description: 'critical: beyond `threshold`; warning: beyond `warning`',
});
const LastMeasured = Nullable(Type.Number(), 'The value that was measured last; null: none was');
const Measured = Nullable(Type.Number(), 'The measured value; null: no data');

/** State of an alert. `pending`: beyond a threshold, not for long enough yet; `unknown`: not evaluated yet. */
const STATES = ['ok', 'pending', 'warning', 'critical', 'disabled', 'unknown'] as const;

/** An alert as the API shows it. */
export const AlertJson = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    query: AlertQuery,
    window_minutes: Type.Integer(),
    comparison: OneOf(COMPARISONS),
    threshold: Type.Number(),
    warning: Nullable(Type.Number()),
    for_minutes: Type.Integer(),
    no_data: OneOf(NO_DATA),
    webhooks: Type.Unsafe<'all' | string[]>(Type.Union([Type.Literal('all'), Type.Array(Type.String())])),
    gone_webhooks: Type.Array(Type.String(), { description: 'Those of `webhooks` that were deleted' }),
    enabled: Type.Boolean(),
    state: Type.Unsafe<(typeof STATES)[number]>({
      ...OneOf(STATES),
      description: 'State of the gravest group; unknown: not evaluated yet',
    }),
    firing: Type.Array(
      Type.Object({ group: Group, severity: SeverityName, since: Timestamp, value: LastMeasured }, closed),
      { description: 'Groups that have fired and are not resolved' },
    ),
    value: Nullable(Type.Number(), 'The last measured value of an alert without a grouping'),
    skipped_groups: Type.Integer({ description: 'Groups that are not watched, because there are too many' }),
    evaluated_at: Nullable(Timestamp, 'The end of the last window that was evaluated'),
    error: Nullable(Type.String(), 'Why the last evaluation failed; it is tried again, ever less often'),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, $id: 'Alert' },
);
export type AlertJson = Static<typeof AlertJson>;

/** Why something was resolved, besides by its value. */
export const RESOLVE_REASONS = ['changed', 'disabled', 'deleted'] as const;
export type ResolveReason = (typeof RESOLVE_REASONS)[number];

const event = {
  at: Timestamp,
  event: OneOf(['fired', 'resolved'] as const),
  severity: SeverityName,
  group: Group,
  value: Measured,
};

/** Parameters of the history of an alert. */
export const AlertHistoryQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,17}$',
        rule: 'must be the `next` of an earlier page',
        description: 'The `next` of the page before',
      }),
    ),
  },
  closed,
);
export type AlertHistoryQuery = Static<typeof AlertHistoryQuery>;

const AlertHistoryEntry = Type.Object(
  {
    id: Type.String(),
    ...event,
    threshold: Nullable(Type.Number()),
    reason: Nullable(OneOf(RESOLVE_REASONS), 'Why it was resolved if not by its value; null: by its value'),
  },
  { ...closed, $id: 'AlertHistoryEntry' },
);
export type AlertHistoryEntry = Static<typeof AlertHistoryEntry>;

export const AlertHistoryPage = Type.Object(
  {
    entries: Type.Array(AlertHistoryEntry, { description: 'Newest first' }),
    next: Nullable(Type.String(), 'The cursor of the next page; null: there is none'),
  },
  closed,
);
export type AlertHistoryPage = Static<typeof AlertHistoryPage>;

/** Result of an alert test. */
export const AlertTestJson = Type.Object(
  {
    events: Type.Array(Type.Object(event, closed), { description: 'Oldest first' }),
    values: Type.Array(Type.Tuple([Type.Integer(), Nullable(Type.Number())]), {
      description:
        'The end of each evaluated window, in milliseconds since the epoch, and its value; empty with a grouping',
    }),
    step_minutes: Type.Integer({
      description: 'Time between two evaluations of the test; in service they are a minute apart',
    }),
    evaluations: Type.Integer(),
    is_complete: Type.Boolean({
      description: 'False: the time limit of the test was reached before all evaluations were made',
    }),
  },
  { ...closed, $id: 'AlertTest' },
);
export type AlertTestJson = Static<typeof AlertTestJson>;
