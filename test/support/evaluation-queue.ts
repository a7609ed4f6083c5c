/** Organizations, evaluators, requests and evaluations in a real database, written as the API and ingest write them. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { EVALUATIONS_CHANNEL } from '#core/contracts/channels.ts';
import { laneOf, type ScoringType, scoreKeyOf } from '#core/scoring/mod.ts';
import { createOrganization } from '#platform/keys/mod.ts';
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
import { claim, type Job } from '../../evaluators/queue/mod.ts';
import { waitFor } from './assay.ts';
import { type Database, databaseFor } from './world.ts';

export type Evaluator = {
  organizationId: string;
  evaluatorId: string;
  version: number;
  scoringType: ScoringType;
  scoreKey: string;
};

export type NewEvaluator = {
  name?: string;
  version?: number;
  scoringType?: ScoringType;
  /** For Python: runs of it may share a process. */
  code?: string;
  limits?: object;
  llmTemplate?: object;
  dailyBudgetNano?: number | null;
  pausedReason?: string | null;
};

/** Columns of the evaluations that `schedule` makes. */
export type Scheduled = {
  priority?: number;
  /** Relative to now; negative for the past. Default: just now. */
  dueInMs?: number;
  state?: string;
  attempts?: number;
  probe?: string;
  runId?: string;
};

/** The columns of an evaluation that tests read. */
export type Row = {
  evaluation_id: string;
  organization_id: string;
  request_id: string;
  state: string;
  attempts: number;
  due_at: Date;
  score: number | null;
  error_code: string | null;
  error_message: string | null;
  judge_calls: number;
  judge_request_ids: string[];
  cost_nano: string | null;
  prompt_tokens: string | null;
  finished_at: Date | null;
};

export type ScoreRow = {
  organization_id: string;
  request_id: string;
  key: string;
  value: number;
  evaluator_id: string | null;
  evaluator_version: number | null;
};

export type World = {
  url: string;
  sql: Sql;
  /** Opens a pool of its own on the same database, as another process would. */
  connect(max?: number): Sql;
  organization(): Promise<string>;
  evaluator(organizationId: string, given?: NewEvaluator): Promise<Evaluator>;
  /** Writes requests of an organization: `input <n>`, with the response `output <n>`. Returns their ids, oldest first. */
  requests(organizationId: string, count: number): Promise<string[]>;
  /** Schedules an evaluation of each of these requests. Returns their ids, in order. */
  schedule(evaluator: Evaluator, requestIds: readonly string[], given?: Scheduled): Promise<string[]>;
  /** As `schedule`, for requests that do not exist: enough for tests of the queue alone. */
  scheduleMany(evaluator: Evaluator, count: number, given?: Scheduled): Promise<void>;
  /** Claims everything that is due in a lane, as one process. */
  claimAll(lane?: 'python' | 'remote', limit?: number): Promise<Job[]>;
  /** As `claimAll`, once something is due: times are rounded to the millisecond and may be one off. */
  claimSoon(lane?: 'python' | 'remote'): Promise<Job[]>;
  row(evaluationId: string): Promise<Row>;
  scores(): Promise<ScoreRow[]>;
  /** Returns the spending, by evaluator. */
  spent(): Promise<Record<string, number>>;
};

/** Creates a database, which is removed after the test. */
export async function startWorld(t: Test): Promise<World> {
  return await worldIn(t, await databaseFor(t));
}

/** Uses an existing database, which stays. */
export async function worldIn(t: Test, { sql, url }: Database): Promise<World> {
  const pools: Sql[] = [];
  t.teardown(() => Promise.all(pools.map((pool) => pool.end({ timeout: 5 }))));
  await sql`select assay.ensure_partitions(now()::date)`;
  await sql`select assay.ensure_partitions((now() - interval '1 day')::date)`;
  let made = 0;
  const world: World = {
    url,
    sql,
    connect: (max = 2) => {
      const pool = connectPostgres({ url, max, applicationName: 'test', statementTimeoutMs: 30_000 });
      pools.push(pool);
      return pool;
    },
    organization: async () => {
      made += 1;
      return (await createOrganization(sql, { name: `organization ${made}` })).organizationId;
    },
    evaluator: async (organizationId, given = {}) => {
      made += 1;
      const { name = `Evaluator ${made}`, version = 1, scoringType = 'PYTHON' } = given;
      const evaluator = { organizationId, evaluatorId: randomUUID(), version, scoringType };
      await sql`insert into assay.evaluators ${sql({
        evaluator_id: evaluator.evaluatorId,
        organization_id: organizationId,
        name,
        score_key: scoreKeyOf(name),
        scoring_type: scoringType,
        version,
        paused_reason: given.pausedReason ?? null,
        daily_budget_nano: given.dailyBudgetNano ?? null,
        created_at: new Date(),
        updated_at: new Date(),
      })}`;
      const { code = 'def evaluate(input, output):\n  return len(output)', limits = {}, llmTemplate } = given;
      for (let one = 1; one <= version; one += 1) {
        await sql`insert into assay.evaluator_versions ${sql({
          evaluator_id: evaluator.evaluatorId,
          version: one,
          organization_id: organizationId,
          code_template: scoringType === 'PYTHON' ? sql.json({ code, limits } as never) : null,
          llm_template: llmTemplate === undefined ? null : sql.json(llmTemplate as never),
          created_at: new Date(),
        })}`;
      }
      return { ...evaluator, scoreKey: scoreKeyOf(name) };
    },
    requests: async (organizationId, count) => {
      const first = made + 1;
      made += count;
      const rows = await sql<{ request_id: string }[]>`
        with made as materialized (
          select n, now() - (${made} - n) * interval '1 ms' as created_at, 'request-' || lpad(n::text, 8, '0') as request_id
            from generate_series(${first}::int4, ${made}::int4) n
        ), requests as (
          insert into assay.requests (organization_id, created_at, request_id, source, path, provider, model, request_model,
            status, latency_ms, properties_folded, is_stream, truncated)
          select ${organizationId}, created_at, request_id, 'gateway', '/v1/chat/completions', 'OPENAI', 'gpt-4o-mini',
            'gpt-4o-mini', 200, 5, '{}', false, false from made
        ), bodies as (
          insert into assay.request_bodies (organization_id, created_at, request_id, request_text, response_text)
          select ${organizationId}, created_at, request_id,
            '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"input ' || n || '"}]}',
            '{"choices":[{"index":0,"message":{"role":"assistant","content":"output ' || n || '"},"finish_reason":"stop"}]}'
          from made
        )
        select request_id from made order by n`;
      return rows.map((row) => row.request_id);
    },
    schedule: async (evaluator, requestIds, given = {}) => {
      const rows = await sql<{ evaluation_id: string }[]>`
        insert into assay.evaluations ${columns()}
        select ${values(evaluator, given)}, r.created_at, r.request_id
          from unnest(${requestIds as string[]}::text[]) with ordinality as wanted (request_id, place)
          join assay.requests r on r.organization_id = ${evaluator.organizationId} and r.request_id = wanted.request_id
         order by place
        returning evaluation_id::text`;
      await sql`select pg_notify(${EVALUATIONS_CHANNEL}, '')`;
      return rows.map((row) => row.evaluation_id);
    },
    scheduleMany: async (evaluator, count, given = {}) => {
      await sql`
        insert into assay.evaluations ${columns()}
        select ${values(evaluator, given)}, now(), 'nobody-' || gen_random_uuid()
          from generate_series(1, ${count}::int4)`;
    },
    claimAll: async (lane = 'python', limit = 100_000) =>
      (await claim(sql, { lane, limit, roomByOrganization: new Map(), roomOfOthers: limit })).jobs,
    claimSoon: async (lane) => {
      let claimed: Job[] = [];
      await waitFor('something to claim', async () => {
        claimed = await world.claimAll(lane);
        return claimed.length > 0;
      });
      return claimed;
    },
    row: async (evaluationId) => {
      const [row] = await sql<Row[]>`select * from assay.evaluations where evaluation_id = ${evaluationId}`;
      if (row === undefined) throw new Error(`There is no evaluation ${evaluationId}`);
      return row;
    },
    scores: async () =>
      await sql<ScoreRow[]>`
        select organization_id, request_id, key, value, evaluator_id, evaluator_version
          from assay.request_scores order by organization_id, request_id, key`,
    spent: async () => {
      const rows = await sql<{ evaluator_id: string; cost: string }[]>`
        select evaluator_id, sum(cost_nano)::int8 as cost from assay.evaluation_spend group by evaluator_id`;
      return Object.fromEntries(rows.map((row) => [row.evaluator_id, Number(row.cost)]));
    },
  };

  const columns = () => sql`
    (organization_id, evaluator_id, version, lane, priority, due_at, state, attempts, probe, run_id, scheduled_at,
     created_at, request_id)`;
  const values = (evaluator: Evaluator, given: Scheduled) => sql`
    ${evaluator.organizationId}::uuid, ${evaluator.evaluatorId}::uuid, ${evaluator.version}::int4,
    ${laneOf(evaluator.scoringType, null)}, ${given.priority ?? 0}::int2,
    now() + ${given.dueInMs ?? -1}::float8 * interval '1 ms', ${given.state ?? 'pending'}, ${given.attempts ?? 0}::int2,
    ${given.probe ?? ''}, ${given.runId ?? null}::uuid, now()`;
  return world;
}
