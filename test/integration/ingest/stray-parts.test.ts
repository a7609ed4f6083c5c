/** Which parts of entries are taken for strays, and when. */
import t from 'tap';
import { storePart } from '../../../ingest/entry-parts.ts';
import { StrayParts } from '../../../ingest/stray-parts.ts';
import { databaseFor } from '../../support/world.ts';

const { sql } = await databaseFor(t);

async function parts(): Promise<string[]> {
  const rows = await sql<{ origin: string }[]>`select distinct origin from assay.entry_parts order by origin`;
  return rows.map(({ origin }) => origin);
}

async function addPart(origin: string): Promise<void> {
  await sql`insert into assay.entry_parts (origin, cut_bytes, part, bytes) values (${origin}, 1, 0, '')`;
}

const at = (acknowledgedSequence: number, lastSequence: number) => async () => ({
  acknowledgedSequence,
  lastSequence,
});

t.beforeEach(() => sql`truncate assay.entry_parts`);

t.test('a part is removed that three looks find', async (t) => {
  const strays = new StrayParts(sql, 0);
  await addPart('old');
  await strays.lookIfDue(at(7, 7));
  await addPart('new');
  await strays.lookIfDue(at(8, 9));
  t.same(await parts(), ['new', 'old']);
  await strays.lookIfDue(at(9, 12));
  t.same(await parts(), ['new']);
});

t.test('no part is removed while a message is not acknowledged that came before the look', async (t) => {
  const strays = new StrayParts(sql, 0);
  await addPart('waits');
  for (const lastSequence of [9, 10, 11, 12]) await strays.lookIfDue(at(8, lastSequence));
  t.same(await parts(), ['waits'], 'the rest of its entry may be that message');
  await strays.lookIfDue(at(12, 12));
  t.same(await parts(), []);
});

t.test('a part that was joined meanwhile, and came again, is a new one', async (t) => {
  const strays = new StrayParts(sql, 0);
  await addPart('again');
  await strays.lookIfDue(at(1, 1));
  await sql`truncate assay.entry_parts`;
  await strays.lookIfDue(at(2, 2));
  await addPart('again');
  await strays.lookIfDue(at(3, 3));
  t.same(await parts(), ['again']);
});

t.test('it looks again only when it is time', async (t) => {
  const strays = new StrayParts(sql, 60_000);
  let looks = 0;
  const counting = async () => {
    looks += 1;
    return await at(1, 1)();
  };
  for (const _call of [1, 2, 3, 4]) await strays.lookIfDue(counting);
  t.equal(looks, 1);
});

t.test(
  'a part that came again while it waited is not removed: the others of its entry are on their way',
  async (t) => {
    const strays = new StrayParts(sql, 0);
    const part = { index: 0, count: 2, cutBytes: 1, bytes: Buffer.from('x') };
    const again = () => storePart(sql, 'anew', part);
    await again();
    await addPart('stray');
    await strays.lookIfDue(at(1, 1));
    await strays.lookIfDue(at(2, 2));
    t.equal(await again(), null);
    await strays.lookIfDue(at(3, 3));
    t.same(await parts(), ['anew']);
    await strays.lookIfDue(at(4, 4));
    t.same(await parts(), ['anew']);
    await strays.lookIfDue(at(5, 5));
    t.same(await parts(), [], 'unless nothing follows');
  },
);
