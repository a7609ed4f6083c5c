/** Pages of rows and their cursors, over random requests with equal values and none. */
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';

type Page = { rows: { request_id: string }[]; next: string | null; prev: string | null };
type Sort = { field: keyof typeof COLUMNS; direction: 'asc' | 'desc' };

const COLUMNS = {
  created_at: 'created_at',
  latency: 'latency_ms',
  cost: 'cost_nano',
  tokens: 'total_tokens',
  prompt_tokens: 'prompt_tokens',
  completion_tokens: 'completion_tokens',
  time_to_first_token: 'ttft_ms',
} as const;
const NOON = Date.UTC(2026, 4, 4, 12);
const WEEK_MS = 7 * 86_400_000;

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

let organizations = 0;

/** A fresh organization with these requests. */
async function withRequests(rows: Partial<SeedRequest>[]) {
  organizations += 1;
  const { sql } = api.database;
  const { organizationId } = await createOrganization(sql, { name: `rows-${organizations}` });
  const { key } = await createKey(sql, { organizationId, scopes: ['read'] });
  return { key, organizationId, rows: await insertRequests(sql, organizationId, rows) };
}

async function pageOf(key: string, body: object): Promise<Page> {
  const answer = await api.call('/v1/request/rows', {
    key,
    body: { filter: 'all', columns: ['request_id'], ...body },
  });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body.data as Page;
}

const idsOf = ({ rows }: Page) => rows.map(({ request_id }) => request_id);

/** All ids from a place on, page by page. */
async function walk(
  key: string,
  body: object,
  way: 'next' | 'prev',
  onPage?: () => Promise<unknown>,
): Promise<string[][]> {
  const pages: string[][] = [];
  let page = await pageOf(key, body);
  for (;;) {
    pages.push(idsOf(page));
    const cursor = page[way];
    if (cursor === null) return pages;
    await onPage?.();
    const { around: _, after: __, ...rest } = body as Record<string, unknown>;
    page = await pageOf(key, { ...rest, [way === 'next' ? 'after' : 'before']: cursor });
  }
}

/** The ids in the order that the contract describes: nulls last, ties by id. */
function sorted(rows: SeedRequest[], { field, direction }: Sort): string[] {
  const sign = direction === 'asc' ? 1 : -1;
  const compare = <T>(left: T, right: T) => (left < right ? -sign : left > right ? sign : 0);
  return rows
    .toSorted((left, right) => {
      const [one, two] = [left[COLUMNS[field]], right[COLUMNS[field]]].map((value) =>
        value === null ? null : Number(value),
      );
      if (one === null || two === null) {
        if (one !== two) return one === null ? 1 : -1;
        return compare(left.request_id, right.request_id);
      }
      return compare(one, two) || compare(left.request_id, right.request_id);
    })
    .map(({ request_id }) => request_id);
}

const SORTS: Sort[] = (Object.keys(COLUMNS) as Sort['field'][]).flatMap((field) => [
  { field, direction: 'asc' },
  { field, direction: 'desc' },
]);

/** Few values, so that many are equal; both ends of what a column can hold. */
const few = fc.constantFrom(null, null, 0, 1, 2, 3, 2_147_483_647);
const arbitraryRow = fc.record({
  // Two weeks: two partitions.
  created_at: fc.constantFrom(0, 1, 2, WEEK_MS, WEEK_MS + 1).map((ms) => new Date(NOON + ms)),
  latency_ms: few,
  cost_nano: fc.constantFrom(null, 0, 1, Number.MAX_SAFE_INTEGER),
  total_tokens: few,
  prompt_tokens: few,
  completion_tokens: few,
  ttft_ms: few,
  user_id: fc.constantFrom('ada', 'bob'),
  properties: fc.constantFrom<Record<string, string>>({ plan: 'pro' }, { plan: 'free' }),
  scores: fc.constantFrom<Record<string, number>>({}, { good: 1 }),
});
const arbitraryRows = fc.array(arbitraryRow, { minLength: 1, maxLength: 24 }).chain((rows) =>
  fc
    .shuffledSubarray(
      rows.map((_, index) => `r-${index}`),
      { minLength: rows.length },
    )
    .map((ids) => rows.map((row, index) => ({ ...row, request_id: ids[index]! }))),
);

/** A filter of each way to read: all rows, an index, a walk of the property index, a list of scores. */
const FILTERS = [
  { filter: 'all', passes: () => true },
  {
    filter: { request: { user_id: { equals: 'ada' } } },
    passes: (row: SeedRequest) => row.user_id === 'ada',
  },
  {
    filter: { properties: { Plan: { equals: 'pro' } } },
    passes: (row: SeedRequest) => row.properties?.plan === 'pro',
  },
  { filter: { scores: { good: { gte: 1 } } }, passes: (row: SeedRequest) => row.scores.good === 1 },
  { filter: 'all', isScored: true, passes: (row: SeedRequest) => row.scores.good === 1 },
];

t.test(
  'pages forwards and backwards are the sorted list, for every sort and every way to find requests',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryRows,
        fc.constantFrom(...SORTS),
        fc.constantFrom(...FILTERS),
        fc.integer({ min: 1, max: 9 }),
        async (given, sort, { passes, ...found }, limit) => {
          const { key, rows } = await withRequests(given);
          const expected = sorted(rows.filter(passes), sort);
          const body = { ...found, sort: { [sort.field]: sort.direction }, limit };
          const forwards = await walk(key, body, 'next');
          t.strictSame(forwards.flat(), expected, `${JSON.stringify(body)} forwards`);
          t.ok(
            forwards.slice(0, -1).every((page) => page.length === limit),
            'every page but the last is full',
          );
          if (expected.length === 0) return;
          const last = expected.at(-1)!;
          const backwards = await walk(key, { ...body, around: last }, 'prev');
          t.strictSame(backwards.reverse().flat(), expected, `${JSON.stringify(body)} backwards`);
        },
      ),
      runs(t, 25),
    );
  },
);

t.test(
  'a page around a request holds it, half of the others before it, and more of one side at an end',
  async (t) => {
    const { key, rows } = await withRequests(
      Array.from({ length: 9 }, (_, index) => ({
        request_id: `a-${index}`,
        latency_ms: index < 7 ? index : null,
        created_at: new Date(NOON + index),
      })),
    );
    for (const sort of SORTS) {
      const expected = sorted(rows, sort);
      for (const [place, id] of expected.entries()) {
        const page = await pageOf(key, { around: id, limit: 4, sort: { [sort.field]: sort.direction } });
        const first = Math.min(Math.max(0, place - 2), expected.length - 4);
        t.strictSame(
          idsOf(page),
          expected.slice(first, first + 4),
          `${sort.field} ${sort.direction}, around ${id}`,
        );
        t.equal(page.prev === null, first === 0, 'prev');
        t.equal(page.next === null, first + 4 === expected.length, 'next');
      }
    }
  },
);

t.test('a request that the filter leaves out still names a place', async (t) => {
  const { key } = await withRequests(
    [0, 1, 2, 3, 4].map((index) => ({
      request_id: `p-${index}`,
      created_at: new Date(NOON + index),
      status: index === 2 ? 500 : 200,
    })),
  );
  const filter = { response: { status: { equals: 200 } } };
  const page = await pageOf(key, { filter, around: 'p-2', limit: 2 });
  t.strictSame(idsOf(page), ['p-3', 'p-1']);
});

async function newest(t: Test, sort: object, expected: string[]): Promise<void> {
  const { key } = await withRequests(
    [3, 1, 4, 1, 5].map((latency_ms, index) => ({
      request_id: `n-${index}`,
      created_at: new Date(NOON + index),
      latency_ms,
    })),
  );
  t.strictSame(idsOf(await pageOf(key, { around: 'newest', limit: 3, ...sort })), expected);
}

t.test('newest is the first page of the newest first, and the last one of the oldest first', async (t) => {
  await newest(t, {}, ['n-4', 'n-3', 'n-2']);
  await newest(t, { sort: { created_at: 'asc' } }, ['n-2', 'n-3', 'n-4']);
});

t.test('newest is around the newest request in any other order', async (t) => {
  await newest(t, { sort: { latency: 'asc' } }, ['n-0', 'n-2', 'n-4']);
  const { key } = await withRequests([]);
  t.strictSame(await pageOf(key, { around: 'newest', sort: { latency: 'asc' } }), {
    rows: [],
    next: null,
    prev: null,
  });
});

t.test('requests that come in between double and skip none of the earlier ones', async (t) => {
  const values = [null, 5, 1, 5, null, 3, 3, 2, 5, 1];
  const sorts = SORTS.filter(({ field }) => field === 'created_at' || field === 'latency');
  for (const sort of sorts) {
    const { key, organizationId, rows } = await withRequests(
      values.map((value, index) => ({
        request_id: `m-${index}`,
        created_at: new Date(NOON + index),
        latency_ms: value,
      })),
    );
    let added = 0;
    const insertMore = () =>
      insertRequests(
        api.database.sql,
        organizationId,
        [null, 0, 3, 9].map((value) => {
          added += 1;
          return { request_id: `x-${added}`, created_at: new Date(NOON + (added % 12)), latency_ms: value };
        }),
      );
    const body = { sort: { [sort.field]: sort.direction }, limit: 3 };
    const seen = (await walk(key, body, 'next', insertMore)).flat();
    t.strictSame(
      seen.filter((id) => id.startsWith('m-')),
      sorted(rows, sort),
      `${sort.field} ${sort.direction}`,
    );
    t.equal(new Set(seen).size, seen.length, 'none twice');
  }
});

t.test('behind what was erased the way back begins with what is left', async (t) => {
  const { key, organizationId } = await withRequests(
    [0, 1, 2, 3].map((index) => ({ request_id: `e-${index}`, created_at: new Date(NOON + index) })),
  );
  const { next } = await pageOf(key, { limit: 2 });
  await api.database
    .sql`delete from assay.requests where organization_id = ${organizationId} and request_id in ('e-0', 'e-1')`;
  const empty = await pageOf(key, { limit: 2, after: next });
  t.strictSame([idsOf(empty), empty.next], [[], null]);
  const back = await pageOf(key, { limit: 2, before: empty.prev });
  t.strictSame([idsOf(back), back.prev], [['e-3', 'e-2'], null]);
});
