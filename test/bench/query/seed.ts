/** The requests that the benchmarks of the management API read. */
import { SingleBar } from 'cli-progress';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { generateRequests } from '../../support/seed-requests.ts';
import type { Sample } from './cases.ts';

/** Seeds this many requests of one organization; returns its key and one of the requests. */
export async function seed(url: string, count: number): Promise<{ key: string; sample: Sample }> {
  const sql = connectPostgres({ url, max: 1, applicationName: 'bench', statementTimeoutMs: 0 });
  const { organizationId } = await createOrganization(sql, { name: 'bench' });
  const { key } = await createKey(sql, { organizationId, scopes: ['read'] });
  const bar = new SingleBar({
    format: 'seeding {bar} {value}/{total} requests, {eta_formatted} left',
    noTTYOutput: true,
    notTTYSchedule: 10_000,
  });
  bar.start(count, 0);
  await generateRequests(sql, {
    organizationId,
    count,
    endMs: Date.now(),
    onProgress: (done) => bar.update(done),
  });
  bar.stop();
  const [sample] = await sql<[Sample]>`
    select request_id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at, user_id,
      properties_folded ->> 'conversation' as conversation
    from assay.requests where user_id is not null order by created_at offset ${Math.floor(count / 2)} limit 1`;
  await sql.end();
  return { key, sample };
}
