/** The fields of the form of an alert, and the body that they make. Pure. */
import type { AlertBody, AlertJson } from '#core/contracts/alert.ts';
import { alertFilter } from './requests-behind.ts';

/** As the form has them, numbers as texts. */
export type AlertFields = {
  name: string;
  metric: string;
  aggregate: string;
  groupBy: string;
  q: string;
  windowMinutes: string;
  comparison: string;
  threshold: string;
  warning: string;
  forMinutes: string;
  noData: string;
  webhooks: AlertJson['webhooks'];
  isEnabled: boolean;
};

/** Returns the chosen webhooks without those that were deleted, which the API refuses. */
function keptWebhooks(alert: AlertJson | null): AlertJson['webhooks'] {
  if (alert === null || alert.webhooks === 'all') return 'all';
  return alert.webhooks.filter((id) => !alert.gone_webhooks.includes(id));
}

/** Returns the fields of an alert; of a new one without it. */
export function fieldsOf(alert: AlertJson | null): AlertFields {
  const measure = alert?.query.measures[0];
  return {
    name: alert?.name ?? '',
    metric: measure?.metric ?? 'errors',
    aggregate: measure?.aggregate ?? 'avg',
    groupBy: alert?.query.groupBy?.[0] ?? '',
    q: alert === null ? '' : alertFilter(alert.query),
    windowMinutes: String(alert?.window_minutes ?? 5),
    comparison: alert?.comparison ?? '>',
    threshold: alert === null ? '0.05' : String(alert.threshold),
    warning: alert?.warning == null ? '' : String(alert.warning),
    forMinutes: String(alert?.for_minutes ?? 0),
    noData: alert?.no_data ?? 'ok',
    webhooks: keptWebhooks(alert),
    isEnabled: alert?.enabled ?? true,
  };
}

/** Returns the body of the alert. What the form does not show of the query stays as it was, and so does a filter that is not touched. */
export function bodyOf(fields: AlertFields, alert: AlertJson | null): AlertBody {
  const { measures, groupBy, q, filter, ...kept } = alert?.query ?? {};
  const isTouched = alert === null || fields.q !== alertFilter(alert.query);
  const asked = isTouched
    ? fields.q.trim() !== '' && { q: fields.q }
    : { ...(q !== undefined && { q }), ...(filter !== undefined && { filter }) };
  const query = {
    ...kept,
    measures: [{ metric: fields.metric, aggregate: fields.aggregate }],
    ...(fields.groupBy !== '' && { groupBy: [fields.groupBy] }),
    ...asked,
  };
  return {
    name: fields.name,
    query: query as AlertBody['query'],
    window_minutes: Number(fields.windowMinutes),
    comparison: fields.comparison as AlertBody['comparison'],
    threshold: Number(fields.threshold),
    warning: fields.warning.trim() === '' ? null : Number(fields.warning),
    for_minutes: Number(fields.forMinutes),
    no_data: fields.noData as NonNullable<AlertBody['no_data']>,
    webhooks: fields.webhooks,
    enabled: fields.isEnabled,
  };
}
