/** The totals of sessions are those of their rows, however these came and went. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import type { BatchEntry } from '../../../ingest/prepare-batch.ts';
import { keepPartitionsOnce } from '../../../ingest/retention.ts';
import { retryAllDeadLetters } from '../../../ingest/retry-dead-letter.ts';
import { BatchStore } from '../../../ingest/store-batch.ts';
import { logEntry } from '../../support/log-entries.ts';
import { seededRandom } from '../../support/random.ts';
import { checkTotals } from '../../support/session-totals.ts';
import { createWorld } from '../../support/world.ts';

const log = createLogger({ role: 'test', level: 'silent' });
const DAY_MS = 86_400_000;
const SPAN_MS = DAY_MS / 4;
const world = await createWorld(t);
const { sql } = world;
const pool = world.connect({ max: 8, statementTimeoutMs: 20_000 });
const store = () => new BatchStore({ sql: pool, log, clock: systemClock, retentionDays: null });
const answer = { model: 'gpt-4o-mini', usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } };
let made = 0;

function entry(head: Partial<LogEntryHead>, response: unknown = answer): BatchEntry & { id: string } {
  made += 1;
  return { ...logEntry(head, { response }), origin: `test/${made}` };
}

t.test('totals are those of the rows, whatever is stored twice, at once and in whatever order', async (t) => {
  const { organizationId } = await world.organization();
  const random = seededRandom(1);
  const whole = (below: number) => Math.floor(random() * below);
  const now = Date.now();
  const entries = Array.from({ length: 600 }, () =>
    entry(
      {
        organizationId,
        createdAtMs: now - whole(5 * DAY_MS),
        sessionId: random() < 0.1 ? null : `session ${whole(12)}`,
        sessionName: random() < 0.4 ? null : `name ${whole(5)}`,
        source: random() < 0.1 ? 'evaluator' : 'gateway',
        errorCode: random() < 0.1 ? 'interrupted' : null,
      },
      random() < 0.2 ? {} : answer,
    ),
  );
  const batchesOf = (from: number) => {
    const shuffled = entries.slice(from, from + 400).sort(() => random() - 0.5);
    return Array.from({ length: 40 }, (_, index) => [
      ...shuffled.slice(index * 10, index * 10 + 10),
      // Again, in the same batch and in another.
      shuffled[whole(400)]!,
      shuffled[index * 10]!,
    ]);
  };
  // Four processes: each entry reaches two of them or four. Two that insert the same records in opposite orders lock each other
  // out, as ever; such a batch is stored again.
  const storeAgain = async (own: BatchStore, batch: BatchEntry[]): Promise<void> => {
    try {
      await own.store({ entries: batch });
    } catch (error) {
      if ((error as { code?: string }).code !== '40P01') throw error;
      await storeAgain(own, batch);
    }
  };
  await Promise.all(
    [0, 200, 0, 200].map(async (from) => {
      const own = store();
      for (const batch of batchesOf(from)) await storeAgain(own, batch);
    }),
  );
  t.equal(await checkTotals(t, sql, organizationId), 12);
});

t.test(
  'processes that store requests of the same sessions in any order do not lock each other out',
  async (t) => {
    const { organizationId } = await world.organization();
    const ids = Array.from({ length: 30 }, (_, index) => `session ${index}`);
    const batch = (order: readonly string[]) =>
      order.map((sessionId) =>
        entry({
          organizationId,
          sessionId,
          sessionName: `name ${made}`,
          createdAtMs: Date.now() - 5 * DAY_MS,
        }),
      );
    await Promise.all(
      [ids, ids.toReversed(), ids, ids.toReversed()].map(async (order) => {
        const own = store();
        for (let round = 0; round < 12; round += 1) await own.store({ entries: batch(order) });
      }),
    );
    t.equal(await checkTotals(t, sql, organizationId), 30);
  },
);

t.test(
  'a batch that is rolled back counts nothing, and one of which an entry is refused counts the others',
  async (t) => {
    const { organizationId } = await world.organization();
    const of = { organizationId, sessionId: 's' };
    const failing = store().store({ entries: [entry(of)], alongside: () => Promise.reject(new Error('no')) });
    await t.rejects(failing, { message: 'no' });
    t.equal(await checkTotals(t, sql, organizationId), 0);
    const isGone = entry({ ...of, createdAtMs: Date.UTC(2001, 1, 1) });
    const result = await store()
      .store({ entries: [entry(of), isGone, entry(of)] })
      .catch((error) => error);
    t.match(result, { stored: 2, deadLetters: 1 });
    t.equal(await checkTotals(t, sql, organizationId), 1);
  },
);

t.test('a dead letter that is stored at last counts once', async (t) => {
  const { organizationId } = await world.organization();
  await sql`alter table assay.requests add constraint no_poison check (user_id is distinct from 'poison')`;
  await store().store({ entries: [entry({ organizationId, sessionId: 's', userId: 'poison' })] });
  t.equal(await checkTotals(t, sql, organizationId), 0);
  await sql`alter table assay.requests drop constraint no_poison`;
  await sql`delete from assay.dead_letters where organization_id is distinct from ${organizationId}`;
  t.same(await retryAllDeadLetters(sql), { stored: 1, refused: 0 });
  t.equal(await checkTotals(t, sql, organizationId), 1);
});

t.test(
  'odd ids and names are kept as Postgres can hold and index them, and empty ones are none',
  async (t) => {
    const { organizationId } = await world.organization();
    const texts = [
      'a\0b',
      '\ud800',
      '😀',
      'x'.repeat(1_024),
      '\0'.repeat(1_024),
      'é'.repeat(1_024),
      '{"a",b}',
      'null',
    ];
    const entries = texts.map((text) => entry({ organizationId, sessionId: text, sessionName: text }));
    const { stored } = await store().store({
      entries: [...entries, entry({ organizationId, sessionId: '' })],
    });
    t.equal(stored, texts.length + 1);
    t.equal(await checkTotals(t, sql, organizationId), texts.length);
  },
);

t.test('sessions are counted again after a deletion, and go with their last request', async (t) => {
  const { organizationId } = await world.organization();
  const ids = ['a', 'a', 'b', 'c'];
  const entries = ids.map((sessionId, index) =>
    entry({
      organizationId,
      sessionId,
      sessionName: `name ${index}`,
      createdAtMs: Date.now() - index * DAY_MS,
    }),
  );
  await store().store({ entries });
  await sql`update assay.sessions set tag = 'kept' where organization_id = ${organizationId}`;
  await sql.begin(async (tx) => {
    await tx`delete from assay.requests where organization_id = ${organizationId} and request_id = any(${[entries[0]!.id, entries[2]!.id]})`;
    await tx`select assay.recount_sessions(${organizationId}, ${['a', 'b', 'unknown']})`;
  });
  t.equal(await checkTotals(t, sql, organizationId), 2);
  const [row] =
    await sql`select tag from assay.sessions where organization_id = ${organizationId} and session_id = 'a'`;
  t.equal(row?.tag, 'kept', 'what callers attached stays');
  await sql`delete from assay.sessions where organization_id = ${organizationId}`;
  await sql`select assay.recount_sessions(${organizationId}, ${['a', 'c']})`;
  t.equal(await checkTotals(t, sql, organizationId), 2, 'totals that are missing are made');
  for (const none of [['unknown'], []])
    await sql`select assay.recount_sessions(${organizationId}, ${none}::text[])`;
  t.equal(await checkTotals(t, sql, organizationId), 2, 'unknown ids change nothing');
});

t.test('a recount waits for records that are being stored, and loses none', async (t) => {
  const { organizationId } = await world.organization();
  for (const isKnown of [true, false]) {
    const sessionId = isKnown ? 'known' : 'new';
    const known = entry({ organizationId, sessionId });
    await store().store({ entries: [known] });
    if (!isKnown) await sql`delete from assay.sessions where session_id = ${sessionId}`;
    const counted = Promise.withResolvers<void>();
    const ending = Promise.withResolvers<void>();
    // Holds the transaction that stores a record open after the session was counted.
    const slow = new Proxy(pool, {
      get: (target, name, receiver) =>
        name !== 'begin'
          ? Reflect.get(target, name, receiver)
          : (work: (tx: unknown) => Promise<unknown>) =>
              pool.begin(async (tx) => {
                const result = await work(tx);
                counted.resolve();
                await ending.promise;
                return result;
              }),
    });
    const storing = new BatchStore({ sql: slow, log, clock: systemClock, retentionDays: null }).store({
      entries: [entry({ organizationId, sessionId })],
    });
    await counted.promise;
    const recounting = sql`select assay.recount_sessions(${organizationId}, ${[sessionId]})`.execute();
    await sql`select pg_sleep(0.05)`;
    ending.resolve();
    await Promise.all([storing, recounting]);
  }
  t.equal(await checkTotals(t, sql, organizationId), 2);
});

t.test('late changes of short sessions are counted by the spans in which they began', async (t) => {
  const { organizationId } = await world.organization();
  const now = Date.now();
  const span = (spansAgo: number) => Math.floor(now / SPAN_MS) * SPAN_MS - spansAgo * SPAN_MS + SPAN_MS / 2;
  const changes = async () => {
    const rows = await sql<{ began_at: Date; late_changes: string }[]>`
      select began_at, late_changes from assay.session_spans where organization_id = ${organizationId}`;
    const ago = (beganAt: Date) => Math.floor(now / SPAN_MS) - beganAt.getTime() / SPAN_MS;
    return Object.fromEntries(rows.map((row) => [ago(row.began_at), Number(row.late_changes)]));
  };
  const add = (sessionId: string, createdAtMs: number) =>
    store().store({ entries: [entry({ organizationId, sessionId, createdAtMs })] });
  await add('today', now);
  t.same(await changes(), {}, 'a change on time is not counted');
  await add('s', span(6));
  t.same(await changes(), { 6: 1 });
  await add('s', span(7) + 1);
  t.same(
    await changes(),
    { 6: 2, 7: 1 },
    'a session that turns out to have begun earlier changes both spans',
  );
  await add('s', now);
  t.same(await changes(), { 6: 2, 7: 2 }, 'so does one that becomes a long one');
  await add('s', now);
  t.same(await changes(), { 6: 2, 7: 2 }, 'a long one changes no span');
});

t.test('retention removes sessions with their weeks, and what is left of one is counted again', async (t) => {
  const { organizationId } = await world.organization();
  const days = (ago: number) => Date.now() - ago * DAY_MS;
  const of = (sessionId: string, ago: number) =>
    entry({ organizationId, sessionId, sessionName: `${ago} days ago`, createdAtMs: days(ago) });
  await store().store({
    entries: [of('old', 60), of('old', 61), of('both', 60), of('both', 2), of('new', 1)],
  });
  await keepPartitionsOnce({ url: world.database.url, clock: systemClock, log, retentionDays: 30 });
  t.equal(await checkTotals(t, sql, organizationId), 2);
  const [both] =
    await sql`select * from assay.sessions where organization_id = ${organizationId} and session_id = 'both'`;
  t.match(both, { requests: '1', name: '2 days ago', is_long: false });
});

t.test('a reader of other organizations sees no session', async (t) => {
  const { organizationId } = await world.organization();
  const other = await world.organization();
  await store().store({
    entries: [
      entry({ organizationId, sessionId: 's', sessionName: 'n', createdAtMs: Date.now() - 9 * DAY_MS }),
    ],
  });
  const api = world.connect({ role: 'assay_api' });
  for (const table of ['sessions', 'session_names', 'session_spans']) {
    const count = async (id: string) => {
      const [row] = await api.begin(async (tx) => {
        await tx`select set_config('assay.organization', ${id}, true)`;
        return tx`select count(*)::int from ${tx(`assay.${table}`)}`;
      });
      return row!.count;
    };
    t.equal(await count(organizationId), 1, table);
    t.equal(await count(other.organizationId), 0, table);
  }
});

t.test(
  'the migration makes the totals of the requests that exist, and cuts ids that are too long',
  async (t) => {
    const { organizationId } = await world.organization();
    const ids = ['a', 'a', 'b', 'cut', 'empty'];
    const entries = ids.map((sessionId, index) =>
      entry({ organizationId, sessionId, sessionName: index === 1 ? null : `name ${index}` }),
    );
    await store().store({ entries });
    const file = new URL('../../../platform/postgres/migrations/0016_sessions.sql', import.meta.url);
    const statements = readFileSync(file, 'utf8')
      .split(/;\n/)
      .map((statement) => statement.replace(/^(\s*--.*\n|\s)*/, ''))
      .filter((statement) => /^(update assay\.requests|insert into)/.test(statement));
    t.equal(statements.length, 5);
    await sql.begin(async (tx) => {
      await tx`delete from assay.sessions`;
      await tx`delete from assay.session_names`;
      // An index that would refuse such an id, as in a database before the migration.
      await tx`drop index assay.requests_organization_id_session_id_created_at_request_id_s_idx`;
      await tx`update assay.requests set session_id = repeat('é', 2000) where session_id = 'cut'`;
      await tx`update assay.requests set session_id = '' where session_id = 'empty'`;
      for (const statement of statements) await tx.unsafe(statement);
    });
    t.equal(await checkTotals(t, sql, organizationId), 3);
    const [cut] =
      await sql`select session_id from assay.sessions where organization_id = ${organizationId} and session_id like 'é%'`;
    t.equal(cut?.session_id, 'é'.repeat(512));
  },
);
