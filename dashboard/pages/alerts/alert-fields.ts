/** The fields of the form of an alert, and the body that they make. Pure. */
import type { AlertBody, AlertJson } from '#core/contracts/alert.ts';

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
  isEnabled: boolean;
};

/** Returns the fields of an alert; of a new one without it. */
export function fieldsOf(alert: AlertJson | null): AlertFields {
  const measure = alert?.query.measures[0];
  return {
    name: alert?.name ?? '',
    metric: measure?.metric ?? 'errors',
    aggregate: measure?.aggregate ?? 'avg',
    groupBy: alert?.query.groupBy?.[0] ?? '',
    q: alert?.query.q ?? '',
    windowMinutes: String(alert?.window_minutes ?? 5),
    comparison: alert?.comparison ?? '>',
    threshold: alert === null ? '0.05' : String(alert.threshold),
    warning: alert?.warning == null ? '' : String(alert.warning),
    forMinutes: String(alert?.for_minutes ?? 0),
    noData: alert?.no_data ?? 'ok',
    isEnabled: alert?.enabled ?? true,
  };
}

/** Returns the body of the alert. What the form does not show of the query, such as a filter as JSON, stays as it was. */
export function bodyOf(fields: AlertFields, alert: AlertJson | null): AlertBody {
  const { measures, groupBy, q, ...kept } = alert?.query ?? {};
  const query = {
    ...kept,
    measures: [{ metric: fields.metric, aggregate: fields.aggregate }],
    ...(fields.groupBy !== '' && { groupBy: [fields.groupBy] }),
    ...(fields.q.trim() !== '' && { q: fields.q }),
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
    enabled: fields.isEnabled,
  };
}
