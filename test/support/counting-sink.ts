/** A sink that writes down what it is given, in the transaction that it is given: so a test counts what it has applied. */
import { createMetrics } from '#platform/observability/metrics.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import { type Change, createFeedMetrics, type Sink } from '../../sinks/feed/mod.ts';

/** What a sink was given: a row for each key of a change, and one for a change without keys. */
export type Seen = {
  seq: string;
  organizationId: string;
  kind: Change['kind'];
  createdAt: Date | null;
  requestId: string | null;
  detail: unknown;
};

export type CountingSink = Sink & {
  /** What it has applied, in the order of the feed as it came. */
  seen(): Promise<Seen[]>;
  /** The moments that it was resumed with. */
  resumed: (number | null)[];
};

/** Creates a sink and the table of what it sees. */
export async function countingSink(sql: Sql, name = 'test'): Promise<CountingSink> {
  await sql`
    create table if not exists seen (place serial primary key, sink text, seq bigint, organization_id uuid, kind text,
                                     created_at timestamptz, request_id text, detail jsonb)`;
  const resumed: (number | null)[] = [];
  return {
    name,
    resumed,
    async apply(tx: TransactionSql, changes: readonly Change[]) {
      const rows = changes.flatMap(({ keys, details, ...change }) => {
        const count = Math.max(keys.length, details?.length ?? 0);
        return Array.from({ length: count }, (_, index) => ({
          seq: change.seq,
          organization_id: change.organizationId,
          kind: change.kind,
          created_at: keys[index]?.createdAt ?? null,
          request_id: keys[index]?.requestId ?? null,
          detail: details?.[index] ?? null,
        }));
      });
      await tx`
        insert into seen (sink, seq, organization_id, kind, created_at, request_id, detail)
        select ${name}, r.* from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
          as r (seq bigint, organization_id uuid, kind text, created_at timestamptz, request_id text, detail jsonb)`;
    },
    async resume(_tx, sinceMs) {
      resumed.push(sinceMs);
    },
    seen: () => sql<Seen[]>`
      select seq::text, organization_id as "organizationId", kind, created_at as "createdAt", request_id as "requestId", detail
        from seen where sink = ${name} order by place`,
  };
}

/** Metrics of the feed that nothing shows. */
export const feedMetrics = () => createFeedMetrics(createMetrics('test'));
