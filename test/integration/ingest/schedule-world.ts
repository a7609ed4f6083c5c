/** Online evaluators, an outbox, and ingest between them, on a real PostgreSQL. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import type { Probe, Scope, ScoringType } from '#core/scoring/mod.ts';
import { logEntryHead, TEST_ORGANIZATION } from '../../support/log-entries.ts';
import type { TestDatabase } from '../../support/postgres.ts';
import { databaseFor } from '../../support/world.ts';
import { outboxWorld } from './outbox-world.ts';

export const OTHER_ORGANIZATION = '00000000-0000-4000-8000-000000000002';

/** Ids that are the same in every run, so that what is sampled is as well. */
export const FIXED_IDS = Array.from(
  { length: 400 },
  (_, index) => `01J8QZ5K3M${String(index).padStart(16, '0')}`,
);
export const FIXED_EVALUATOR = '7d3c0b9e-3f50-4b0e-9a51-0c8f6a2f5d10';

export const SUCCEEDED = { response: { status: { equals: 200 } } };

type Evaluator = {
  evaluatorId?: string;
  organizationId?: string;
  scope?: Scope;
  scoringType?: ScoringType;
  adapter?: string;
  deleted?: boolean;
  paused?: boolean;
};

type Online = {
  organizationId?: string;
  sampleRate?: number;
  propertyFilters?: { key: string; value: string }[];
  filter?: unknown;
  probeRate?: number;
  idleSeconds?: number;
};

type Evaluation = {
  evaluator_id: string;
  version: number;
  request_id: string;
  probe: Probe | '';
  lane: string;
  priority: number;
  state: string;
};

let named = 0;

/**
 * A database for the tests of a file. What it returns gives a test an outbox of its own on it, from which the test
 * before has taken everything.
 */
export async function scheduleWorld(t: Test) {
  const database = await databaseFor(t);
  await database.sql`
    insert into assay.organizations (organization_id, name)
    values (${TEST_ORGANIZATION}, 'ours'), (${OTHER_ORGANIZATION}, 'theirs')`;
  return (t: Test) => setUp(t, database);
}

async function setUp(t: Test, database: TestDatabase) {
  const world = await outboxWorld(t, { database });
  const { sql } = world;
  await sql`truncate assay.evaluations, assay.online_evaluators, assay.evaluator_versions, assay.evaluators, assay.evaluation_runs, assay.evaluation_attempts, assay.requests,
    assay.request_bodies, assay.request_properties, assay.dead_letters, assay.outbox_cursors`;

  async function addVersion(evaluatorId: string, version: number, given: Evaluator = {}) {
    const config = given.adapter === undefined ? null : sql.json({ adapter: given.adapter });
    await sql`
      insert into assay.evaluator_versions (evaluator_id, version, organization_id, external_config, created_at)
      values (${evaluatorId}, ${version}, ${given.organizationId ?? TEST_ORGANIZATION}, ${config}, now())`;
    await sql`update assay.evaluators set version = ${version} where evaluator_id = ${evaluatorId}`;
  }

  async function addEvaluator(given: Evaluator = {}): Promise<string> {
    const {
      evaluatorId = randomUUID(),
      organizationId = TEST_ORGANIZATION,
      scope = 'request',
      scoringType = 'LLM-RANGE',
    } = given;
    named += 1;
    await sql`
      insert into assay.evaluators (evaluator_id, organization_id, name, score_key, scope, scoring_type, paused_reason,
                                    created_at, updated_at, deleted_at)
      values (${evaluatorId}, ${organizationId}, ${`judge ${named}`}, ${`judge_${named}`}, ${scope}, ${scoringType},
              ${given.paused ? 'billing' : null}, now(), now(), ${given.deleted ? new Date() : null})`;
    await addVersion(evaluatorId, 1, given);
    return evaluatorId;
  }

  /** Attaches an evaluator; the times are apart, as ingest takes the oldest first. */
  async function setOnline(evaluatorId: string, given: Online = {}): Promise<void> {
    const {
      organizationId = TEST_ORGANIZATION,
      sampleRate = 100,
      propertyFilters = [],
      probeRate = 0,
      idleSeconds = 900,
    } = given;
    const filter = given.filter === undefined ? null : JSON.stringify(given.filter);
    await sql`
      insert into assay.online_evaluators
        (organization_id, evaluator_id, sample_rate, property_filters, filter, probe_rate, idle_seconds, created_at)
      values (${organizationId}, ${evaluatorId}, ${sampleRate}, ${sql.json(propertyFilters)}, ${filter}::text::jsonb,
              ${probeRate}, ${idleSeconds}, now() + ${named} * interval '1 second')`;
  }

  return {
    ...world,
    addVersion,
    addEvaluator,
    setOnline,
    async online(given: Evaluator & Online = {}) {
      const evaluatorId = await addEvaluator(given);
      await setOnline(evaluatorId, given);
      return evaluatorId;
    },
    /** Puts a call into the outbox, and returns its id. */
    async logged(head: Partial<LogEntryHead> = {}, request = '{}', response = '{}') {
      const whole = logEntryHead(head);
      await world.put(whole, request, response);
      return whole.id;
    },
    /** Delivers everything once more. */
    async redeliver() {
      await sql`delete from assay.outbox_cursors`;
      await world.ingest();
    },
    evaluations: () => sql<Evaluation[]>`
      select evaluator_id, version, request_id, probe, lane, priority, state from assay.evaluations
       order by request_id, evaluator_id, probe`,
    /** The requests that an evaluator is to score, each as often as that. */
    async scheduledFor(evaluatorId: string) {
      const rows = await sql<{ request_id: string }[]>`
        select request_id from assay.evaluations where evaluator_id = ${evaluatorId} and probe = '' order by request_id`;
      return rows.map((row) => row.request_id);
    },
    /** Why an evaluator is paused; null: it is not. */
    async pauseOf(evaluatorId: string) {
      const [row] = await sql<{ reason: string | null; message: string | null }[]>`
        select paused_reason as reason, paused_message as message from assay.evaluators
         where evaluator_id = ${evaluatorId}`;
      return row!.reason === null ? null : row!;
    },
    async stored() {
      const rows = await sql<
        { request_id: string }[]
      >`select request_id from assay.requests order by request_id`;
      return rows.map((row) => row.request_id);
    },
    async letters() {
      return (await sql`select 1 from assay.dead_letters`).length;
    },
  };
}
