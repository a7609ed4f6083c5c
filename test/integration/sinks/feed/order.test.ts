/** What a sink reads: every change once, whatever the order in which transactions begin and end. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { noteChange } from '#platform/changes/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { applyNext } from '../../../../sinks/feed/run-sink.ts';
import { waitFor } from '../../../support/assay.ts';
import { countingSink, feedMetrics } from '../../../support/counting-sink.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { databaseFor, silentLog } from '../../../support/world.ts';

const { sql } = await databaseFor(t);
const organizationId = randomUUID();
const sink = await countingSink(sql);
const options = { sql, log: silentLog, feedMetrics: feedMetrics(), sink };
const FULL = { changes: 100, keys: 100 };

const note = (requestId: string) => (tx: TransactionSql) =>
  noteChange(tx, { organizationId, kind: 'record', keys: [{ createdAt: new Date(0), requestId }] });
const ids = async () => (await sink.seen()).map(({ requestId }) => requestId);

/** Applies until the last change is applied. Other tests' transactions on the same server may hold it back for a moment. */
async function applyUntil(last: string): Promise<void> {
  await waitFor(`the change of ${last}`, async () => {
    await applyNext(options, FULL);
    return (await ids()).at(-1) === last;
  });
}

await sql`insert into assay.sinks (name, cluster) values (${sink.name}, 0)`;
await applyNext(options, FULL);

t.test(
  'a change that commits after a later one was noted is applied, and neither is applied twice',
  async (t) => {
    // The first transaction takes number 1 and stays open; the second takes number 2 and is committed.
    const first = await openTransaction(sql, note('first'));
    await sql.begin(note('second'));
    const [later] = await sql`select seq from assay.changes`;
    t.equal(later!.seq, '2', 'number 2 is there, and number 1 is not');
    await applyNext(options, FULL);
    t.same(await ids(), [], 'the second waits for the first, which could otherwise be passed over');
    await first.end();
    await applyUntil('second');
    t.same(await ids(), ['first', 'second']);
  },
);

t.test('a change of a transaction that is older than all others and notes last comes first', async (t) => {
  const old = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const done = sql.begin(async (tx) => {
    await tx`select pg_current_xact_id()`;
    begun.resolve();
    await old.promise;
    await note('late')(tx);
  });
  await begun.promise;
  await sql.begin(note('early'));
  await applyNext(options, FULL);
  t.notOk((await ids()).includes('early'));
  old.resolve();
  await done;
  await applyUntil('early');
  t.same((await ids()).slice(-2), ['late', 'early']);
});

t.test('a change that was rolled back is never applied, and holds nothing up', async (t) => {
  await t.rejects(
    sql.begin(async (tx) => {
      await note('undone')(tx);
      throw new Error('undone');
    }),
  );
  await sql.begin(note('done'));
  await applyUntil('done');
  t.notOk((await ids()).includes('undone'));
});
