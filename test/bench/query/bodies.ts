/** Queries that read bodies, of large bodies as they come in and compressed: `npm run bench query -- --bodies`. */
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
import { compressBodies } from '../../../ingest/compress-bodies.ts';
import { insertRequests } from '../../support/seed-requests.ts';
import { type Call, timed } from '../calls.ts';
import { prose } from '../prose.ts';
import { formatTable, percentile } from '../table.ts';

/** Characters of each body. */
const BODY_CHARACTERS = 50 * 1024;
const INSERTED_AT_ONCE = 100;
/** One record in so many has the text that is looked for. */
const RARE = 500;
const NEEDLE = 'a needle';

const CASES = [
  { name: 'request.body contains, rare', filter: { request: { body: { contains: NEEDLE } } } },
  { name: 'request.body contains, none', filter: { request: { body: { contains: 'nowhere' } } } },
  { name: 'response.body like, none', filter: { response: { body: { like: '%nowhere%' } } } },
  {
    name: 'values, a place in the request, rare',
    filter: { values: { 'request.metadata.note': { equals: NEEDLE } } },
  },
  {
    name: 'values, a place in the response, none',
    filter: { values: { 'response.choices.0.index': { equals: 7 } } },
  },
  { name: 'all, a page of 10 with its bodies', filter: 'all' },
];

/** Seeds requests with large bodies, which lie as ingest stores them where it compresses later. Returns their key. */
export async function seedBodies(url: string, count: number): Promise<string> {
  const sql = connectPostgres({ url, max: 1, applicationName: 'bench', statementTimeoutMs: 0 });
  const { organizationId } = await createOrganization(sql, { name: 'bench' });
  const { key } = await createKey(sql, { organizationId, scopes: ['read'] });
  const text = prose(BODY_CHARACTERS);
  const response = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: text } }] });
  for (let first = 0; first < count; first += INSERTED_AT_ONCE) {
    const indexes = Array.from({ length: Math.min(INSERTED_AT_ONCE, count - first) }, (_, at) => first + at);
    await insertRequests(
      sql,
      organizationId,
      indexes.map((index) => ({
        request_text: JSON.stringify({
          model: 'm',
          messages: [{ role: 'user', content: text }],
          metadata: { note: index % RARE === 0 ? NEEDLE : 'hay' },
        }),
        response_text: response,
      })),
    );
    await freshen(sql);
    process.stderr.write(`seeded ${first + indexes.length} of ${count}\n`);
  }
  await sql.end();
  return key;
}

/** Moves all bodies to where large ones come in. */
async function freshen(sql: Sql): Promise<void> {
  await sql`
    with moved as (delete from assay.request_bodies
      returning organization_id, created_at, request_id, request_text, response_text, request_raw, response_raw)
    insert into assay.fresh_bodies
      (organization_id, created_at, request_id, request_text, response_text, request_raw, response_raw)
    select * from moved`;
}

/** Measures the queries on bodies as they came in, and compressed. Returns the table. */
export async function measureBodies(url: string, call: Call, rounds: number): Promise<string> {
  const sql = connectPostgres({ url, max: 1, applicationName: 'bench', statementTimeoutMs: 0 });
  const [row] = await sql<[{ count: number }]>`select count(*)::int4 as count from assay.fresh_bodies`;
  const measure = async () => {
    await sql`vacuum analyze assay.fresh_bodies`;
    await sql`vacuum analyze assay.request_bodies`;
    const medians: string[] = [];
    for (const { name, filter } of CASES) {
      process.stderr.write(`${name}\n`);
      const times = await timed(() => call('/v1/request/query', { filter }), rounds);
      medians.push(percentile(times, 0.5).toFixed(1));
    }
    return medians;
  };
  const fresh = await measure();
  while ((await compressBodies(sql)) > 0);
  const compressed = await measure();
  await sql.end();
  const rows = CASES.map(({ name }, index) => [name, fresh[index]!, compressed[index]!]);
  return `${row.count} requests, ${BODY_CHARACTERS} characters both ways; p50 in ms of ${rounds}\n\n${formatTable([['', 'as they came in', 'compressed'], ...rows])}`;
}
