/** When keys were used last: noted in memory, written together. */
import t from 'tap';
import { createKey } from '#platform/keys/mod.ts';
import { createKeyUses } from '#platform/keys/uses.ts';
import { createWorld, silentLog } from '../../../support/world.ts';

const world = await createWorld(t);
const { sql } = world;
const { organizationId } = await world.organization();
const newKey = async () => (await createKey(sql, { organizationId, scopes: ['read'] })).record.keyId;
const lastUses = async (keyId: string) =>
  (await sql<{ at: Date }[]>`select last_used_at as at from assay.api_key_uses where key_id = ${keyId}`).map(
    ({ at }) => at.toISOString(),
  );
const at = (time: string) => Date.parse(`2026-11-23T${time}Z`);

t.test('the latest minute of each key is written, and an earlier one never replaces it', async (t) => {
  const [one, other] = [await newKey(), await newKey()];
  const uses = createKeyUses({ sql, log: silentLog });
  uses.note(one, at('10:00:59'));
  uses.note(other, at('10:02:00'));
  uses.note(one, at('10:01:30'));
  t.same(await lastUses(one), [], 'not yet');
  await uses.flush();
  t.same(await lastUses(one), ['2026-11-23T10:01:00.000Z']);
  t.same(await lastUses(other), ['2026-11-23T10:02:00.000Z']);
  uses.note(one, at('09:00:00'));
  await uses.stop();
  t.same(await lastUses(one), ['2026-11-23T10:01:00.000Z']);
});

t.test('what could not be written is written later, with what was noted meanwhile', async (t) => {
  const proxy = await world.proxy();
  const uses = createKeyUses({ sql: world.connect({ url: proxy.url }), log: silentLog });
  const [one, other] = [await newKey(), await newKey()];
  uses.note(one, at('10:05:00'));
  await proxy.cut();
  await uses.flush();
  uses.note(one, at('10:04:00'));
  uses.note(other, at('10:06:00'));
  await proxy.restore();
  await uses.stop();
  t.same(await lastUses(one), ['2026-11-23T10:05:00.000Z']);
  t.same(await lastUses(other), ['2026-11-23T10:06:00.000Z']);
});

t.test('processes that write the same keys at the same time do not lock each other out', async (t) => {
  const keys = await Promise.all(Array.from({ length: 20 }, newKey));
  const pool = world.connect({ max: 8 });
  const writers = Array.from({ length: 8 }, (_, index) => {
    const uses = createKeyUses({ sql: pool, log: silentLog });
    for (const key of index % 2 === 0 ? keys : keys.toReversed())
      uses.note(key, at('11:00:00') + index * 60_000);
    return uses;
  });
  await Promise.all(writers.map((uses) => uses.stop()));
  for (const key of keys) t.same(await lastUses(key), ['2026-11-23T11:07:00.000Z']);
});

t.test('a note about a key that does not exist is passed over', async (t) => {
  const uses = createKeyUses({ sql, log: silentLog });
  const key = await newKey();
  uses.note('00000000-0000-4000-8000-000000000000', at('10:00:00'));
  uses.note(key, at('10:00:00'));
  await uses.stop();
  t.same(await lastUses(key), ['2026-11-23T10:00:00.000Z']);
});
