import { SEVERITIES, type Severity } from '#core/alerts/mod.ts';
import type { AlertJson } from '#core/contracts/alert.ts';
import type { AlertRow } from './store.ts';

/** Returns an alert as the API shows it. */
export function alertJson(row: AlertRow): AlertJson {
  const { webhookIds, groups, evaluatedAt } = row;
  return {
    id: row.alertId,
    name: row.name,
    query: row.query,
    window_minutes: row.windowMinutes,
    comparison: row.comparison,
    threshold: row.threshold,
    warning: row.warning,
    for_minutes: row.forMinutes,
    no_data: row.noData,
    webhooks: webhookIds ?? 'all',
    gone_webhooks: row.goneWebhooks,
    enabled: row.isEnabled,
    state: stateOf(row),
    firing: groups.flatMap(({ group, value, levels }) =>
      SEVERITIES.flatMap((severity) => {
        const level = levels[severity];
        if (level.kind !== 'firing') return [];
        return [{ group, severity, since: new Date(level.sinceMs).toISOString(), value }];
      }),
    ),
    value: row.value,
    skipped_groups: row.skippedGroups,
    evaluated_at: evaluatedAt?.toISOString() ?? null,
    error: row.error,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function stateOf({ isEnabled, evaluatedAt, groups }: AlertRow): AlertJson['state'] {
  if (!isEnabled) return 'disabled';
  if (evaluatedAt === null) return 'unknown';
  const isAny = (severity: Severity, kind: 'firing' | 'pending') =>
    groups.some(({ levels }) => levels[severity].kind === kind);
  const firing = SEVERITIES.find((severity) => isAny(severity, 'firing'));
  if (firing !== undefined) return firing;
  return SEVERITIES.some((severity) => isAny(severity, 'pending')) ? 'pending' : 'ok';
}
