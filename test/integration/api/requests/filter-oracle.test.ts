import fc from 'fast-check';
import t from 'tap';
import { compileFilter, Parameters, parseFilter } from '#core/filter/mod.ts';
import type { SqlValue } from '#core/filter/parameters.ts';
import { printQuery } from '#core/filter/query-text/print.ts';
import type { FilterTree } from '#core/filter/query-text/tree.ts';
import { inOrganization } from '#platform/postgres/mod.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { filterArbitrary, sampleRecords } from '../../../support/filter-arbitrary.ts';
import { complement, type JsonFilter, passes } from '../../../support/filter-oracle.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

/** Filters in one statement, and statements: 20,000 filters and as many again that go over HTTP. */
const BATCH = 100;
const BATCHES = 200;
const OVER_HTTP = 400;
const RECORDS = 60;
const SEED = 20_260_505;

const records = sampleRecords(RECORDS, SEED);
const idOf = new Map(records.map(({ seed, record }) => [seed.request_id!, record]));
const expected = (filter: JsonFilter) =>
  [...idOf].filter(([, record]) => passes(record, filter)).map(([id]) => id);

/** One statement for many filters: a row a record, a column a filter. */
function truthTable(
  organizationId: string,
  filters: JsonFilter[],
  joins: boolean,
): { text: string; values: SqlValue[] } {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const columns = filters.map(
    (filter, index) => `(${compileFilter(parseFilter(filter), parameters, { joins })}) is true as f${index}`,
  );
  const text = `select r.request_id, ${columns.join(', ')} from assay.requests r where r.organization_id = ${organization}`;
  return { text, values: parameters.values };
}

async function startWithRecords(): Promise<TestApi> {
  const api = await startTestApi(t);
  const { sql } = api.database;
  await insertRequests(
    sql,
    api.own.organizationId,
    records.map(({ seed }) => seed),
  );
  // Another organization's records, which would all pass as well.
  const foreign = sampleRecords(20, SEED + 1);
  await insertRequests(
    sql,
    api.other.organizationId,
    foreign.map(({ seed }) => seed),
  );
  return api;
}

t.test(
  '20,000 random filters find the same records as the model, and complements split the set',
  async (t) => {
    const api = await startWithRecords();
    const { organizationId } = api.own;
    const sql = connectAsApi(api.database.url, { statementTimeoutMs: 60_000 });
    t.teardown(() => sql.end());
    let compared = 0;
    let split = 0;
    let partial = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(filterArbitrary, { minLength: BATCH, maxLength: BATCH }),
        fc.boolean(),
        async (filters, joins) => {
          const complements = filters.map(complement);
          const all = [...filters, ...complements.filter((filter) => filter !== null)];
          const { text, values } = truthTable(organizationId, all, joins);
          const rows = await inOrganization(sql, organizationId, (tx) =>
            tx.unsafe<Record<string, unknown>[]>(text, values as never[]),
          );
          if (rows.length !== RECORDS) throw new Error(`${rows.length} rows`);
          all.forEach((filter, index) => {
            const found = rows.filter((row) => row[`f${index}`] === true).map((row) => row.request_id);
            const wanted = expected(filter);
            const wrong = [...idOf.keys()].filter((id) => found.includes(id) !== wanted.includes(id));
            if (wrong.length > 0) {
              const [id] = wrong;
              throw new Error(
                `${JSON.stringify(filter)} ${found.includes(id) ? 'finds' : 'misses'} ${JSON.stringify(idOf.get(id!))}`,
              );
            }
            if (wanted.length > 0 && wanted.length < RECORDS) partial += 1;
          });
          let next = filters.length;
          complements.forEach((filter, index) => {
            if (filter === null) return;
            const column = next++;
            const both = rows.filter((row) => row[`f${index}`] === row[`f${column}`]);
            if (both.length > 0)
              throw new Error(`${JSON.stringify(filters[index])} and its complement overlap or leave out`);
            split += 1;
          });
          compared += filters.length;
        },
      ),
      { numRuns: BATCHES, seed: SEED, interruptAfterTimeLimit: 400_000 },
    );
    t.comment(`${compared} filters, ${split} with complements, ${partial} of all that find some and not all`);
    t.ok(compared >= 20_000, 'enough were compared');
    t.ok(partial > compared / 5, 'enough of them tell records apart');
  },
);

t.test(
  'over HTTP, random filters page, and as text count, the same records as the model, and NOT the others',
  async (t) => {
    const api = await startWithRecords();
    const sorts = ['created_at', 'latency', 'cost', 'tokens'].flatMap((field) => [
      { [field]: 'asc' },
      { [field]: 'desc' },
    ]);
    await fc.assert(
      fc.asyncProperty(filterArbitrary, fc.constantFrom(...sorts), async (filter, sort) => {
        const wanted = expected(filter);
        const q = printQuery(filter as FilterTree);
        const [page, count, others] = await Promise.all([
          api.query({ filter, sort, limit: 100 }),
          api.call('/v1/request/count/query', { body: { q } }),
          api.call('/v1/request/count/query', { body: { q: `-(${q})` } }),
        ]);
        const found = page.map((record) => record.request_id);
        if (JSON.stringify(found.toSorted()) !== JSON.stringify(wanted.toSorted())) {
          throw new Error(`${JSON.stringify(filter)} finds ${found.length} instead of ${wanted.length}`);
        }
        if (count.body.data !== wanted.length) {
          throw new Error(`${q} counts ${count.text} instead of ${wanted.length}`);
        }
        if (others.body.data !== RECORDS - wanted.length) {
          throw new Error(`-(${q}) counts ${others.text} instead of ${RECORDS - wanted.length}`);
        }
      }),
      { numRuns: OVER_HTTP, seed: SEED },
    );
    t.pass(`${OVER_HTTP} filters`);
  },
);
