import t from 'tap';
import { compileFilter, Parameters, parseFilter } from '#core/filter/mod.ts';
import { inOrganization } from '#platform/postgres/mod.ts';
import { startTestApi } from '../../../support/api.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

/** Characters of a pattern that with a text of LARGE is compared in steps, and with one of SMALL at once. */
const LONG = 8_000;
const LARGE = 400_000;
const SMALL = 40_000;
/** Returns a text of different characters, so that no piece of it stands at two places. */
const numbered = (length: number) =>
  Array.from({ length }, (_, at) => String.fromCharCode(0x4e00 + (at % 20_000))).join('');

t.test('large bodies and their values are found by long patterns as small ones are', async (t) => {
  const api = await startTestApi(t);
  const ids: string[] = [];
  for (const length of [SMALL, LARGE]) {
    const content = `${'x'.repeat(length)} Needle ${numbered(LONG)} END${'y'.repeat(1_000)}`;
    const [row] = await insertRequests(api.database.sql, api.own.organizationId, [
      { request_text: JSON.stringify({ messages: [{ content }] }), inputs: { article: content } },
    ]);
    ids.push(row!.request_id);
  }
  const piece = numbered(LONG);
  const almost = `${piece.slice(0, -1)}!`;
  const all = [...ids].sort();
  const found = async (filter: object) => {
    const records = await api.query({ filter });
    return records.map(({ request_id: id }) => id).sort();
  };
  for (const field of [
    (comparison: object) => ({ request: { body: comparison } }),
    (comparison: object) => ({ values: { 'request.messages.0.content': comparison } }),
    (comparison: object) => ({ values: { article: comparison } }),
  ]) {
    const name = JSON.stringify(field({}));
    t.same(await found(field({ contains: `needle ${piece} end` })), all, `${name} contains it`);
    t.same(await found(field({ contains: almost })), [], `${name} does not contain it`);
    t.same(await found(field({ 'not-contains': almost })), all, `${name}: it is not contained`);
    t.same(await found(field({ like: `%Needle ${piece}_END%y%` })), all, `${name} is like it`);
    t.same(await found(field({ like: `%needle ${piece}%` })), [], `${name} is not like it in another case`);
    t.same(
      await found(field({ like: `%x%${piece.slice(0, 10)}%${piece.slice(10)}%END%` })),
      all,
      `${name} has its parts`,
    );
    t.same(await found(field({ ilike: `%needle%${piece} end%` })), all, `${name} is like it in any case`);
    t.same(await found(field({ 'not-ilike': `%needle ${piece} end%` })), [], `${name}: the complement`);
  }
});

t.test('a filter that was made to take minutes ends by the time limit of its statement', async (t) => {
  const api = await startTestApi(t);
  const { organizationId } = api.own;
  await insertRequests(api.database.sql, organizationId, [
    { request_text: JSON.stringify({ messages: [{ content: 'a'.repeat(4_000_000) }] }) },
  ]);
  const sql = connectAsApi(api.database.url, { statementTimeoutMs: 200 });
  t.teardown(() => sql.end());
  const long = `${'a'.repeat(9_990)}b`;
  for (const body of [
    { contains: long },
    { like: `%${long}` },
    { 'not-ilike': `%m%${long}` },
    { like: `%c%${long}%` },
  ]) {
    const parameters = new Parameters();
    const condition = compileFilter(parseFilter({ request: { body } }), parameters, { joins: false });
    const counting = inOrganization(sql, organizationId, async (tx) => {
      const [row] = await tx.unsafe<{ count: string }[]>(
        `select count(*) from assay.requests r where ${condition}`,
        parameters.values as never[],
      );
      return row!.count;
    });
    // A pattern whose end the text does not have is decided by that.
    const isOfEnd = Object.values(body)[0]!.endsWith('b');
    if (isOfEnd && !('contains' in body)) t.equal(await counting, 'not-ilike' in body ? '1' : '0');
    else await t.rejects(counting, { code: '57014' });
  }
});
