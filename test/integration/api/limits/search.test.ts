/** `GET /v1/rate-limit/usage?search=`: the counters that have a text. */
import t from 'tap';
import { startTestApi } from '../../../support/api.ts';

const PATH = '/v1/rate-limit/usage';
const api = await startTestApi(t);
const { sql } = api.database;
const { organizationId } = api.own;

/** The values of the counters that are found, `-` for one without a segment. */
async function find(search: string, key = api.own.key): Promise<string[]> {
  const answer = await api.call(`${PATH}?search=${encodeURIComponent(search)}`, { key });
  if (answer.status !== 200) throw new Error(answer.text);
  return (answer.body.data as { value: string | null }[]).map(({ value }) => value ?? '-').sort();
}

t.before(async () => {
  await sql`
    with now (ms) as (select floor(extract(epoch from now()) * 1000)::int8),
         bot as (
           update assay.api_keys set name = 'Bot 100%', prefix = 'sk-assay-Bot'
            where key_id = (select key_id from assay.api_keys where organization_id = ${organizationId} limit 1)
           returning key_id)
    insert into assay.limit_counters (organization_id, counter_key, api_key_id, unit, segment, value, seen_ms, expires_at, windows)
    select ${organizationId}, sha256(segment::bytea), key_id, 'request', segment, value, ms, now() + interval '1 hour',
           array[jsonb_populate_record(assay.limit_add(assay.limit_new_window('{}', 3600, 60000, 61, ms), ms, 1), '{"quota": 9}')]
      from now, (values ('user', 'Ada_L'), ('key:Plan', 'gold'), ('', 'key:')) c (segment, value)
      left join bot on c.segment = ''`;
});

t.test(
  'a part of the value, the property, or the prefix of the key finds counters, in any case',
  async (t) => {
    t.same(await find(''), ['-', 'Ada_L', 'gold']);
    t.same(await find('ada_'), ['Ada_L']);
    t.same(await find('a%l'), [], 'no pattern');
    t.same(await find('PLAN'), ['gold']);
    t.same(await find('key:'), [], "the mark of a key's own policy is no text of it");
    t.same(await find('assay-bot'), ['-']);
    t.same(await find('a\0b'), []);
  },
);

t.test('the names of keys are searched for keys that may see them', async (t) => {
  t.same(await find('bot 100%'), ['-']);
  t.same(await find('bot 100%', await api.own.keyWith(['read'])), []);
});

t.test("another organization's counters are not found", async (t) => {
  t.same(await find('ada', api.other.key), []);
});
