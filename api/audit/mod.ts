/** The audit log of an organization: who changed what, and when. Triggers in Postgres write it. */
import {
  type ActorKind,
  AUDIT_PAGE,
  type AuditEntry,
  type AuditPage,
  type AuditQuery,
} from '#core/contracts/audit.ts';
import { quoteValue } from '#core/contracts/check.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { parseTimestamp } from '#core/filter/mod.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';

export type AuditService = {
  /**
   * Returns a page of the log, newest first.
   * @throws AssayError invalid_body for an invalid time
   */
  list(organizationId: string, query: AuditQuery): Promise<AuditPage>;
};

type AuditRow = {
  id: string;
  at: Date;
  actor_kind: ActorKind;
  actor_id: string | null;
  action: string;
  target_kind: string;
  target_id: string;
  changes: AuditEntry['changes'];
};

/** @param sql of the role `assay_api` */
export function createAuditService(sql: Sql): AuditService {
  return {
    async list(organizationId, query) {
      const limit = query.limit === undefined ? AUDIT_PAGE : Number(query.limit);
      const from = readTime('from', query.from);
      const to = readTime('to', query.to);
      const { after = null, action, actor, target_kind: kind, target_id: target } = query;
      // One more than the page has: it tells whether there is another page.
      const rows = await inOrganization(
        sql,
        organizationId,
        (tx) => tx<AuditRow[]>`
          select id::text, at, actor_kind, actor_id, action, target_kind, target_id, changes from assay.audit_log log
          where organization_id = ${organizationId}
            and (${after}::bigint is null or id < ${after}::bigint)
            and (${from}::timestamptz is null or at >= ${from}) and (${to}::timestamptz is null or at < ${to})
            and (${textOrNull(action)}::text is null or action = ${textOrNull(action)})
            and (${textOrNull(actor)}::text is null or coalesce(actor_id, actor_kind) = ${textOrNull(actor)})
            and (${textOrNull(kind)}::text is null or target_kind = ${textOrNull(kind)})
            and (${textOrNull(target)}::text is null or target_id = ${textOrNull(target)})
          order by log.id desc
          limit ${limit + 1}`,
      );
      const page = rows.slice(0, limit);
      return { entries: page.map(toEntry), next: rows.length > limit ? page.at(-1)!.id : null };
    },
  };
}

const textOrNull = (text: string | undefined) => (text === undefined ? null : storableText(text));

function toEntry({
  id,
  at,
  actor_kind,
  actor_id,
  action,
  target_kind,
  target_id,
  changes,
}: AuditRow): AuditEntry {
  return {
    id,
    at: at.toISOString(),
    actor: { kind: actor_kind, id: actor_id },
    action,
    target: { kind: target_kind, id: target_id },
    changes,
  };
}

function readTime(field: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const at = parseTimestamp(text);
  if (at !== null) return new Date(at);
  throw invalidField(
    field,
    `must be an RFC 3339 timestamp like "2026-01-31T12:00:00.000Z", but is ${quoteValue(text)}`,
  );
}
