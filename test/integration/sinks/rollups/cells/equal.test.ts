/** Roll-ups equal the sums of the rows, whatever happened to the rows, and in whatever order it was noticed. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { noteChange } from '#platform/changes/mod.ts';
import { inOrganization } from '#platform/postgres/mod.ts';
import { pruneRollups } from '../../../../../sinks/rollups/prune.ts';
import { recompute } from '../../../../../sinks/rollups/recompute.ts';
import { TASKS } from '../../../../../sinks/rollups/tasks.ts';
import { seededRandom } from '../../../../support/random.ts';
import { differencesOf, expectedCells, storedCells } from '../../../../support/rollup-oracle.ts';
import {
  applyAllChanges,
  applyChanges,
  noteStored,
  recomputeAll,
  registerRollups,
} from '../../../../support/rollups.ts';
import { insertRequests, type SeedRequest } from '../../../../support/seed-requests.ts';
import { databaseFor } from '../../../../support/world.ts';

const { sql } = await databaseFor(t);
const seed = Number(process.env.ROLLUP_SEED ?? Date.now() % 1_000_000);
const random = seededRandom(seed);
const below = (bound: number) => Math.floor(random() * bound);
const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;
const maybe = <Item>(item: Item): Item | null => (random() < 0.3 ? null : item);

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const organizations = await Promise.all(
  ['one', 'two'].map(async (name) => {
    const [row] = await sql<{ id: string }[]>`
      insert into assay.organizations (name) values (${`${name} ${randomUUID()}`}) returning organization_id as id`;
    return row!.id;
  }),
);
const apiKeys = [randomUUID(), randomUUID()];

type Known = { organizationId: string; createdAt: Date; requestId: string };
const present: Known[] = [];

/** A few seconds to some weeks ago; often the same few minutes, so that buckets hold more than one request. */
function someMoment(): Date {
  const spanMs = pick([MINUTE_MS, 100 * MINUTE_MS, DAY_MS, 3 * DAY_MS, 20 * DAY_MS]);
  return new Date(Date.now() - Math.floor(random() ** 2 * spanMs));
}

function someRequest(): Partial<SeedRequest> {
  const isCached = random() < 0.2;
  const latency_ms = maybe(below(5_000));
  return {
    created_at: someMoment(),
    source: pick(['gateway', 'gateway', 'api', 'evaluator']),
    provider: pick(['OPENAI', 'ANTHROPIC']),
    model: pick(['gpt-4o', 'claude', 'ümlaut 🦔']),
    path: pick(['/v1/chat/completions', `/${'long'.repeat(2_000)}`]),
    status: pick([200, 200, 400, 499, 500]),
    latency_ms,
    ttft_ms: maybe(below(5_000)),
    prompt_tokens: maybe(below(1_000)),
    completion_tokens: maybe(below(1_000)),
    total_tokens: maybe(pick([below(2_000), 2 ** 31 - 1])),
    cost_nano: maybe(pick([below(1_000_000), 0])),
    user_id: maybe(pick(['ann', 'bob', 'Ünal'])),
    prompt_id: maybe(pick(['support', 'refund'])),
    prompt_version: maybe(pick(['1', '2'])),
    cached_from: isCached ? 'original' : null,
    properties: maybe({
      Plan: pick(['pro', 'free', 'x'.repeat(300), 'y'.repeat(300)]),
      Region: pick(['eu', '']),
    }),
    feedback_rating: maybe(random() < 0.5),
    scores: random() < 0.3 ? { helpful: below(1_024) / 1_024 } : {},
  };
}

const keyOf = ({ createdAt, requestId }: Known) => ({ createdAt, requestId });

const operations: Record<string, () => Promise<void>> = {
  async record() {
    const organizationId = pick(organizations);
    const rows = await insertRequests(sql, organizationId, Array.from({ length: 1 + below(5) }, someRequest));
    const added = rows.map((row) => ({
      organizationId,
      createdAt: row.created_at,
      requestId: row.request_id,
    }));
    for (const { requestId } of added) {
      await sql`update assay.requests set api_key_id = ${maybe(pick(apiKeys))},
                  cost_saved_nano = case when cached_from is not null then ${maybe(below(10_000))}::bigint end
                 where request_id = ${requestId}`;
    }
    present.push(...added);
    await sql.begin((tx) => noteStored(tx, added));
  },
  async score() {
    if (present.length === 0) return;
    const known = pick(present);
    const value = pick([null, below(1_024) / 1_024, -3, 1e6]);
    const key = pick(['helpful', 'exact']);
    await sql.begin(async (tx) => {
      if (value === null) {
        await tx`delete from assay.request_scores where request_id = ${known.requestId} and key = ${key}`;
      } else {
        await tx`
          insert into assay.request_scores (organization_id, created_at, request_id, key, value, updated_at, evaluator_id)
          values (${known.organizationId}, ${known.createdAt}, ${known.requestId}, ${key}, ${value}, now(), ${maybe(apiKeys[0]!)})
          on conflict (organization_id, created_at, request_id, key)
          do update set value = excluded.value, evaluator_id = excluded.evaluator_id`;
      }
      const details = [{ key, value }];
      await noteChange(tx, {
        organizationId: known.organizationId,
        kind: 'score',
        keys: [keyOf(known)],
        details,
      });
    });
  },
  async feedback() {
    if (present.length === 0) return;
    const known = pick(present);
    const rating = maybe(random() < 0.5);
    await sql.begin(async (tx) => {
      await tx`update assay.requests set feedback_rating = ${rating} where request_id = ${known.requestId}`;
      const details = [{ rating }];
      await noteChange(tx, {
        organizationId: known.organizationId,
        kind: 'feedback',
        keys: [keyOf(known)],
        details,
      });
    });
  },
  async property() {
    if (present.length === 0) return;
    const known = pick(present);
    const value = maybe(pick(['pro', 'team', '🦔', '']));
    await sql.begin(async (tx) => {
      await (value === null
        ? tx`update assay.requests set properties_folded = properties_folded - 'plan' where request_id = ${known.requestId}`
        : tx`update assay.requests set properties_folded = properties_folded || ${tx.json({ plan: value })} where request_id = ${known.requestId}`);
      const details = [{ key: 'Plan', value }];
      await noteChange(tx, {
        organizationId: known.organizationId,
        kind: 'property',
        keys: [keyOf(known)],
        details,
      });
    });
  },
  async erasure() {
    if (present.length === 0) return;
    const [known] = present.splice(below(present.length), 1);
    await inOrganization(sql, known!.organizationId, async (tx) => {
      await tx`select assay.erase_requests(${[known!.requestId]}::text[], null)`;
      await noteChange(tx, { organizationId: known!.organizationId, kind: 'deleted', keys: [keyOf(known!)] });
    });
  },
  async sink() {
    await applyChanges(sql, { changes: 1 + below(20), keys: 1 + below(20) });
  },
  async recomputation() {
    const task = pick(TASKS);
    await recompute({ sql, task, limit: 1 + below(10), isPatient: false, organizationId: null });
  },
  async pruning() {
    await pruneRollups(sql);
  },
};

const WEIGHTS: Record<string, number> = {
  record: 6,
  score: 3,
  feedback: 3,
  property: 3,
  erasure: 2,
  sink: 5,
  recomputation: 12,
  pruning: 1,
};
const NAMES = Object.entries(WEIGHTS).flatMap(([name, weight]) => Array.from({ length: weight }, () => name));

async function compare(): Promise<string[]> {
  const nowMs = Date.now();
  const [stale] = await sql`select count(*)::int as count from assay.rollup_stale`;
  const differences = differencesOf(await expectedCells(sql, nowMs), await storedCells(sql, nowMs));
  return stale!.count === 0 ? differences : [`${stale!.count} buckets are stale`, ...differences];
}

t.test(`after random changes in random order, roll-ups equal their rows (ROLLUP_SEED=${seed})`, async (t) => {
  // What is there before the sink is found by its scan.
  for (let count = 0; count < 8; count += 1) await operations.record!();
  await registerRollups(sql);
  for (let step = 0; step < 120; step += 1) await operations[pick(NAMES)]!();
  await applyAllChanges(sql);
  await recomputeAll(sql);
  t.same(await compare(), []);
  const [cells] = await sql`select count(*)::int as count from assay.rollup_totals where grain_seconds = 10`;
  t.ok(cells!.count > 0, 'the finest buckets were compared too');
});

t.test('a scan marks everything, and its recomputation changes nothing', async (t) => {
  await sql`update assay.sinks set state = 'behind', cursor_xid = null, cursor_seq = null where name = 'rollups'`;
  // What happened meanwhile never came by the feed.
  const [lost] = present.splice(0, 1);
  await sql`delete from assay.requests where request_id = ${lost!.requestId}`;
  await sql`delete from assay.request_scores where request_id = ${lost!.requestId}`;
  await applyAllChanges(sql);
  await recomputeAll(sql);
  t.same(await compare(), []);
});
