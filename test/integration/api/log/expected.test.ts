/** The expected answer of a logged request: stored with its record, shown, exported, and an item's expectation. */
import t from 'tap';
import { erase } from '../../../support/erase.ts';
import { call, LOG, startLogWorld } from './world.ts';

const { api, ingest, logged } = await startLogWorld(t);

/** As JSON, so that digits and the order of members show. */
const EXACT = '{"b": 1.10, "a": [12345678901234567890, "Paris \\u0000"]}';
const STORED = '{"b":1.10,"a":[12345678901234567890,"Paris \\u0000"]}';

async function loggedWith(expected: string, more: object = {}): Promise<string> {
  const raw = JSON.stringify(call({ ...more, expected: 'EXPECTED' })).replace('"EXPECTED"', expected);
  const answer = await api.call(LOG, { raw });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  await ingest();
  return (answer.body.data as { request_id: string }).request_id;
}

const ofUser = (user: string) => ({ filter: { request: { user_id: { equals: user } } } });

t.test('an expected answer is shown, as it was sent, where it is asked for', async (t) => {
  const id = await loggedWith(EXACT, { user_id: 'exact' });
  const shown = await api.call(`/v1/request/${id}?includeExpected=true`);
  t.ok(shown.text.includes(`"expected":${STORED}`), shown.text);
  t.notMatch((await api.call(`/v1/request/${id}`)).text, '"expected"', 'a record has its usual fields');
  t.notMatch((await api.call(`/v1/request/${id}?includeExpected=false`)).text, '"expected"');
  const found = await api.call('/v1/request/query', { body: { ...ofUser('exact'), includeExpected: true } });
  t.ok(found.text.includes(`"expected":${STORED}`));
  const body = { ...ofUser('exact'), format: 'ndjson', includeExpected: true };
  t.ok((await api.call('/v1/request/export', { body })).text.includes(`"expected":${STORED}`));
  t.match(await api.call(`/v1/request/${id}?includeExpected=yes`), {
    status: 400,
    text: /includeExpected must be one of/,
  });
  const theirs = await api.call(`/v1/request/${id}?includeExpected=true`, { key: api.other.key });
  t.equal(theirs.status, 404);
});

t.test('texts, numbers and booleans can be expected; null and nothing are no expectation', async (t) => {
  const show = async (id: string) =>
    ((await api.call(`/v1/request/${id}?includeExpected=true`)).body.data as { expected: unknown }).expected;
  for (const value of ['Paris', 42, false, [], {}, 'x'.repeat(64 * 1024 - 2)])
    t.same(await show(await loggedWith(JSON.stringify(value))), value);
  t.equal(await show(await loggedWith('null')), null);
  const id = await logged(call());
  await ingest();
  t.equal(await show(id), null);
  const [row] = await api.database.sql`
    select count(*)::int4 as count from assay.requests where expected = 'null'`;
  t.equal(row!.count, 0);
});

t.test(
  'an expected answer that is too large or too deep is refused with the rule, and nothing is logged',
  async (t) => {
    const deep = `${'['.repeat(513)}${']'.repeat(513)}`;
    const cases: [string, RegExp][] = [
      [
        JSON.stringify('x'.repeat(64 * 1024 - 1)),
        /expected may be at most 65536 bytes long as JSON, but has 65537/,
      ],
      [deep, /expected may be nested at most 512 levels deep/],
    ];
    for (const [expected, text] of cases) {
      const raw = JSON.stringify(call({ user_id: 'refused', expected: 'E' })).replace('"E"', expected);
      t.match(await api.call(LOG, { raw }), { status: 400, text });
    }
    await ingest();
    t.same(await api.query(ofUser('refused')), []);
  },
);

t.test('items of a dataset take over what was logged; a request without it is skipped', async (t) => {
  const id = await loggedWith(EXACT, { user_id: 'items' });
  await logged(call({ user_id: 'items' }));
  await ingest();
  const made = await api.call('/v1/dataset', { body: { name: 'of logged' } });
  const dataset = `/v1/dataset/${(made.body.data as { id: string }).id}/items`;
  const body = { ...ofUser('items'), expected: 'logged' };
  t.match((await api.call(`${dataset}/from-requests`, { body })).body.data, {
    added: 1,
    skipped: [{ reason: 'no_expected', count: 1 }],
  });
  const items = await api.call(`${dataset}/query`, { body: {} });
  t.ok(items.text.includes(`"expected":${STORED}`), items.text);
  t.ok(items.text.includes(id));
});

t.test('an erased request leaves nothing of what was expected', async (t) => {
  const id = await loggedWith('"only here"');
  await erase(api.database.sql, api.own.organizationId, id);
  const [row] = await api.database.sql<[{ count: number }]>`
    select count(*)::int4 as count from assay.requests where expected = '"only here"'`;
  t.equal(row.count, 0);
});
