/** Finds, retries and cancels single evaluations. */
import { type Static, Type } from '@sinclair/typebox';
import { AssayError } from '#core/contracts/errors.ts';
import { closed, Nullable, OneOf, Timestamp } from '#core/contracts/shapes.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { EVALUATION_STATES, type EvaluationState, type Lane, PROBES, type Probe } from '#core/scoring/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { usdOrNull } from '../requests/mod.ts';
import { DEFAULT_LIMIT, type EvaluationQueryBody } from './bodies.ts';
import type { Context } from './context.ts';
import { isUuid, unknown } from './ids.ts';
import { readWaitReason, type WaitReason } from './waiting.ts';

const JudgeJson = Type.Object(
  {
    model: Nullable(Type.String()),
    calls: Type.Integer(),
    request_ids: Type.Array(Type.String(), { description: "The judge's own requests" }),
    prompt_tokens: Nullable(Type.Integer()),
    completion_tokens: Nullable(Type.Integer()),
    cost: Nullable(Type.Number(), 'USD'),
    latency_ms: Nullable(Type.Number()),
  },
  closed,
);

export const EvaluationJson = Type.Object(
  {
    id: Type.String(),
    evaluator_id: Type.String(),
    evaluator_name: Type.String(),
    version: Type.Integer({ description: 'Of the evaluator' }),
    request_id: Type.String(),
    request_created_at: Timestamp,
    probe: Nullable(
      OneOf(PROBES),
      'What was changed to measure the evaluator itself; null: an ordinary evaluation',
    ),
    run_id: Nullable(Type.String()),
    state: OneOf(EVALUATION_STATES),
    waiting: Nullable(Type.String(), 'Why a pending one cannot have its turn; null: it can'),
    attempts: Type.Integer(),
    score: Nullable(Type.Number()),
    label: Nullable(Type.String()),
    reasoning: Nullable(Type.String()),
    traces: Nullable(Type.String()),
    flags: Type.Array(Type.String()),
    warnings: Type.Array(Type.String(), { description: 'What the record lacked' }),
    error: Nullable(
      Type.Object({ code: Type.String(), message: Nullable(Type.String()) }, closed),
      'The last failure, or why there was nothing to score',
    ),
    judge: Nullable(JudgeJson, 'Null when no judge was called'),
    scheduled_at: Timestamp,
    finished_at: Nullable(Timestamp),
  },
  { ...closed, $id: 'Evaluation' },
);
export type EvaluationJson = Static<typeof EvaluationJson>;

export type Evaluations = {
  /** Newest first. */
  query(organizationId: string, body: EvaluationQueryBody): Promise<EvaluationJson[]>;
  get(organizationId: string, id: string): Promise<EvaluationJson>;
  retry(organizationId: string, id: string): Promise<EvaluationJson>;
  cancel(organizationId: string, id: string): Promise<EvaluationJson>;
};

type EvaluationRow = {
  evaluation_id: string;
  evaluator_id: string;
  evaluator_name: string;
  version: number;
  request_id: string;
  created_at: Date;
  probe: Probe | '';
  run_id: string | null;
  lane: Lane;
  state: EvaluationState;
  attempts: number;
  score: number | null;
  label: string | null;
  reasoning: string | null;
  traces: string | null;
  flags: string[];
  warnings: string[];
  error_code: string | null;
  error_message: string | null;
  judge_model: string | null;
  judge_calls: number;
  judge_request_ids: string[];
  prompt_tokens: string | null;
  completion_tokens: string | null;
  cost_nano: string | null;
  judge_latency_ms: string | null;
  scheduled_at: Date;
  finished_at: Date | null;
};

const RETRIED_FROM: readonly EvaluationState[] = ['error', 'dead', 'cancelled'];
const CANCELLED_FROM: readonly EvaluationState[] = ['pending', 'paused'];

const numberOrNull = (text: string | null) => (text === null ? null : Number(text));

function judgeJson(row: EvaluationRow): EvaluationJson['judge'] {
  if (row.judge_calls === 0) return null;
  return {
    model: row.judge_model,
    calls: row.judge_calls,
    request_ids: row.judge_request_ids,
    prompt_tokens: numberOrNull(row.prompt_tokens),
    completion_tokens: numberOrNull(row.completion_tokens),
    cost: usdOrNull(row.cost_nano),
    latency_ms: numberOrNull(row.judge_latency_ms),
  };
}

function evaluationJson(row: EvaluationRow, waitReason: WaitReason): EvaluationJson {
  return {
    id: row.evaluation_id,
    evaluator_id: row.evaluator_id,
    evaluator_name: row.evaluator_name,
    version: row.version,
    request_id: row.request_id,
    request_created_at: row.created_at.toISOString(),
    probe: row.probe === '' ? null : row.probe,
    run_id: row.run_id,
    state: row.state,
    waiting: row.state === 'pending' ? waitReason(row.lane) : null,
    attempts: row.attempts,
    score: row.score,
    label: row.label,
    reasoning: row.reasoning,
    traces: row.traces,
    flags: row.flags,
    warnings: row.warnings,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message },
    judge: judgeJson(row),
    scheduled_at: row.scheduled_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

/** Selects evaluations. The name is the evaluator's current one, even when it is deleted. */
const columns = (tx: TransactionSql) => tx`
  e.*, v.name as evaluator_name
  from assay.evaluations e
  join assay.evaluators v on v.organization_id = e.organization_id and v.evaluator_id = e.evaluator_id`;

async function find(tx: TransactionSql, organizationId: string, id: string): Promise<EvaluationRow> {
  const [row] = await tx<EvaluationRow[]>`
    select ${columns(tx)}
    where e.organization_id = ${organizationId} and e.evaluation_id = ${id}`;
  if (row === undefined) throw unknown('evaluation', id);
  return row;
}

async function show(tx: TransactionSql, organizationId: string, id: string): Promise<EvaluationJson> {
  return evaluationJson(await find(tx, organizationId, id), await readWaitReason(tx));
}

function conditions(tx: TransactionSql, query: EvaluationQueryBody) {
  const { evaluatorId, version, requestId, runId, state, errorCode } = query;
  return tx`
    ${evaluatorId === undefined ? tx`` : tx`and e.evaluator_id = ${evaluatorId}`}
    ${version === undefined ? tx`` : tx`and e.version = ${version}`}
    ${requestId === undefined ? tx`` : tx`and e.request_id = ${storableText(requestId)}`}
    ${runId === undefined ? tx`` : tx`and e.run_id = ${runId}`}
    ${state === undefined ? tx`` : tx`and e.state = ${state}`}
    ${errorCode === undefined ? tx`` : tx`and e.error_code = ${storableText(errorCode)}`}`;
}

export function createEvaluations({ sql, clock }: Pick<Context, 'sql' | 'clock'>): Evaluations {
  /** Throws the failure for an evaluation whose state does not allow a change. */
  async function refuse(
    tx: TransactionSql,
    organizationId: string,
    id: string,
    { from, what }: { from: readonly EvaluationState[]; what: string },
  ): Promise<never> {
    const { state } = await find(tx, organizationId, id);
    const states = `${from.slice(0, -1).join(', ')} or ${from.at(-1)}`;
    throw new AssayError(
      'conflict',
      `The evaluation ${id} is ${state}: only one that is ${states} can be ${what}`,
    );
  }

  return {
    async query(organizationId, query) {
      // A text that cannot be an id matches no evaluation.
      if ([query.evaluatorId, query.runId].some((id) => id !== undefined && !isUuid(id))) return [];
      const { limit = DEFAULT_LIMIT, offset = 0 } = query;
      return inOrganization(sql, organizationId, async (tx) => {
        const rows = await tx<EvaluationRow[]>`
          select ${columns(tx)}
          where e.organization_id = ${organizationId} ${conditions(tx, query)}
          order by e.scheduled_at desc, e.evaluation_id desc
          limit ${limit} offset ${offset}`;
        const waitReason = await readWaitReason(tx);
        return rows.map((row) => evaluationJson(row, waitReason));
      });
    },

    async get(organizationId, id) {
      return inOrganization(sql, organizationId, (tx) => show(tx, organizationId, id));
    },

    async retry(organizationId, id) {
      return inOrganization(sql, organizationId, async (tx) => {
        const retried = await tx`
          update assay.evaluations
          set state = 'pending', due_at = ${new Date(clock.now())}, attempts = 0,
            error_code = null, error_message = null, finished_at = null
          where organization_id = ${organizationId} and evaluation_id = ${id}
            and state = any(${[...RETRIED_FROM]}::text[])
          returning 1`;
        if (retried.length === 0) {
          return refuse(tx, organizationId, id, { from: RETRIED_FROM, what: 'tried again' });
        }
        return show(tx, organizationId, id);
      });
    },

    async cancel(organizationId, id) {
      return inOrganization(sql, organizationId, async (tx) => {
        const cancelled = await tx`
          update assay.evaluations set state = 'cancelled', finished_at = ${new Date(clock.now())}
          where organization_id = ${organizationId} and evaluation_id = ${id}
            and state = any(${[...CANCELLED_FROM]}::text[])
          returning 1`;
        if (cancelled.length === 0) {
          return refuse(tx, organizationId, id, { from: CANCELLED_FROM, what: 'cancelled' });
        }
        return show(tx, organizationId, id);
      });
    },
  };
}
