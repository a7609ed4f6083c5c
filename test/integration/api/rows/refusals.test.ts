/** What `/v1/request/rows` refuses, and what it keeps from other organizations. */
import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const NOON = Date.UTC(2026, 4, 4, 12);

let api: TestApi;
let cursor: string;
t.before(async () => {
  api = await startTestApi(t);
  await insertRequests(
    api.database.sql,
    api.own.organizationId,
    [0, 1, 2].map((index) => ({
      request_id: `ours-${index}`,
      created_at: new Date(NOON + index),
      latency_ms: index,
    })),
  );
  await insertRequests(api.database.sql, api.other.organizationId, [
    {
      request_id: 'theirs',
      created_at: new Date(NOON),
      properties: { plan: 'secret' },
      preview_in: 'secret',
    },
  ]);
  const page = await api.call('/v1/request/rows', { body: { filter: 'all', limit: 1 } });
  cursor = (page.body.data as { next: string }).next;
});

const rowsOf = (body: object, key?: string) =>
  api.call('/v1/request/rows', { body: { filter: 'all', ...body }, ...(key === undefined ? {} : { key }) });

/** A text as a cursor holds it. */
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

t.test('a body that breaks a rule is a 400 that names the place and the rule', async (t) => {
  const FAULTS: [object, RegExp][] = [
    [{ limit: 0 }, /^limit must be at least 1, but is 0$/],
    [{ limit: 201 }, /^limit must be at most 200, but is 201$/],
    [{ limit: 1.5 }, /^limit must be a whole number/],
    [{ offset: 0 }, /^offset is not a known field$/],
    [{ sort: { user: 'asc' } }, /^sort\.user is not a known field: use one of created_at, latency, /],
    [{ sort: {} }, /^sort must hold exactly one field/],
    [{ columns: [] }, /^columns must hold at least 1 items/],
    [
      { columns: Array.from({ length: 61 }, () => 'model') },
      /^columns must hold at most 60 items, but holds 61$/,
    ],
    [
      { columns: ['model', 'request_body'] },
      /^columns\.1 must be one of request_id, .*preview_out.*, but is "request_body"$/,
    ],
    [{ columns: ['property:'] }, /^columns\.0 must be one of/],
    [{ columns: ['__proto__'] }, /^columns\.0 must be one of/],
    [{ columns: ['constructor'] }, /^columns\.0 must be one of/],
    [
      { columns: [`property:${'n'.repeat(201)}`] },
      /^columns\.0 must have at most 209 characters, but has 210$/,
    ],
    [{ columns: 'model' }, /^columns must be an array/],
    [{ around: '' }, /^around must not be empty$/],
    [{ around: 'x'.repeat(201) }, /^around must have at most 200 characters/],
    [{ after: cursor, before: cursor }, /^before cannot stand beside after/],
    [{ before: cursor, around: 'newest' }, /^around cannot stand beside before/],
    [{ q: 'model:x' }, /^q and filter exclude each other/],
    [{ filter: undefined }, /^filter is required/],
    [{ filter: undefined, q: 'model:' }, /./],
    [{ filter: { request: { colour: { equals: 'red' } } } }, /colour/],
  ];
  for (const [body, sentence] of FAULTS) {
    const { status, body: answer } = await rowsOf(body);
    t.equal(status, 400, JSON.stringify(body));
    t.match(answer.error, sentence);
  }
});

t.test('a cursor that is none, or one of another sort, is a 400', async (t) => {
  const moment = NOON;
  const NONSENSE = [
    'x',
    '%%%',
    '😀',
    encoded(null),
    encoded({}),
    encoded([]),
    encoded(['created_at', 'desc', null, moment, 'id']),
    encoded(['created_at', 'desc', null, moment, 'id', 'yes']),
    encoded(['created_at', 'desc', null, moment, '', false]),
    encoded(['created_at', 'desc', null, moment, 'nul\0', false]),
    encoded(['created_at', 'desc', null, moment, 'lone \ud800', false]),
    encoded(['created_at', 'desc', null, moment, 'i'.repeat(201), false]),
    encoded(['created_at', 'desc', null, 1e18, 'id', false]),
    encoded(['created_at', 'desc', null, 0.5, 'id', false]),
    encoded(['created_at', 'desc', '1', moment, 'id', false]),
    encoded(['created_at', 'up', null, moment, 'id', false]),
    encoded(['colour', 'desc', null, moment, 'id', false]),
    'x'.repeat(1_001),
    `${cursor.slice(0, 10)}`,
  ];
  for (const after of NONSENSE) {
    for (const name of ['after', 'before']) {
      const { status, body } = await rowsOf({ [name]: after });
      t.equal(status, 400, after.slice(0, 80));
      t.match(body.error, new RegExp(`^${name} must`));
    }
  }
  const OTHERS = [{ latency: 'desc' }, { created_at: 'asc' }];
  for (const sort of OTHERS) {
    const { status, body } = await rowsOf({ after: cursor, sort });
    t.equal(status, 400);
    t.match(
      body.error,
      /^after must be a cursor of the same sort, but is one of created_at desc, and the sort is /,
    );
  }
  for (const value of ['9223372036854775808', '-9223372036854775809', '1.5', 'x', 7]) {
    const after = encoded(['latency', 'asc', value, moment, 'id', false]);
    t.equal((await rowsOf({ after, sort: { latency: 'asc' } })).status, 400, String(value));
  }
});

t.test('a cursor at the ends of what a column can hold finds everything, or nothing', async (t) => {
  const at = (value: string | null) => encoded(['latency', 'asc', value, NOON, 'id', false]);
  const count = async (after: string) => {
    const { status, body } = await rowsOf({ after, sort: { latency: 'asc' } });
    t.equal(status, 200);
    return (body.data as { rows: unknown[] }).rows.length;
  };
  t.equal(await count(at('-9223372036854775808')), 3);
  t.equal(await count(at('9223372036854775807')), 0);
  t.equal(await count(at(null)), 0);
});

t.test(
  'requests of another organization are in no page, and their ids are as unknown as made-up ones',
  async (t) => {
    const page = await rowsOf({ columns: ['property:plan', 'preview_in'] });
    t.notMatch(page.text, /theirs|secret/);
    for (const around of ['theirs', 'made up', 'nul \0', 'lone \ud800', '😀'.repeat(100)]) {
      const { status, body } = await rowsOf({ around });
      t.equal(status, 404);
      t.match(body.error, /^There is no request with the id /);
    }
    const after = encoded(['created_at', 'desc', null, NOON + 1, 'theirs', true]);
    t.notMatch((await rowsOf({ after })).text, /secret|"theirs"/);
  },
);
