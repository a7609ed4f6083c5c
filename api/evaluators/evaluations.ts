/** Finds, retries and cancels single evaluations. */
import { AssayError } from '#core/contracts/errors.ts';
import { storableSessionText, storableText } from '#core/contracts/storable-text.ts';
import { CANCELLED_FROM, type EvaluationState, RETRIED_FROM } from '#core/evaluations/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { isUuid } from '#platform/process/ids.ts';
import { unknown } from '../ids.ts';
import { DEFAULT_LIMIT, type EvaluationQueryBody } from './bodies.ts';
import { type ChangedEvaluation, changedColumns, noteEvaluations } from './changes.ts';
import type { Context } from './context.ts';
import { type EvaluationJson, type EvaluationRow, evaluationJson, MAX_HISTORY } from './evaluation-json.ts';
import { reopen } from './reopen.ts';
import { isInState } from './state-condition.ts';
import { readWaitReason } from './waiting.ts';

export type Evaluations = {
  /** Newest first. */
  query(organizationId: string, body: EvaluationQueryBody): Promise<EvaluationJson[]>;
  get(organizationId: string, id: string): Promise<EvaluationJson>;
  retry(organizationId: string, id: string): Promise<EvaluationJson>;
  cancel(organizationId: string, id: string): Promise<EvaluationJson>;
};

/** Selects evaluations. The name is the evaluator's current one, even when it is deleted. */
const columns = (tx: TransactionSql) => tx`
  e.*, v.name as evaluator_name, h.history
  from assay.evaluations e
  join assay.evaluators v on v.organization_id = e.organization_id and v.evaluator_id = e.evaluator_id
  cross join lateral (
    select json_agg(json_build_object('attempt', attempt, 'at', ended_at, 'code', error_code, 'message', error_message)
                    order by attempt) as history
      from (select row_number() over (order by claim) as attempt, ended_at, error_code, error_message
              from assay.evaluation_attempts a
             where a.organization_id = e.organization_id and a.evaluation_id = e.evaluation_id
             order by claim desc limit ${MAX_HISTORY}) latest) h`;

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
  const { evaluatorId, version, requestId, sessionId, runId, state, imported, errorCode } = query;
  return tx`
    ${evaluatorId === undefined ? tx`` : tx`and e.evaluator_id = ${evaluatorId}`}
    ${version === undefined ? tx`` : tx`and e.version = ${version}`}
    ${requestId === undefined ? tx`` : tx`and e.request_id = ${storableText(requestId)}`}
    ${sessionId === undefined ? tx`` : tx`and e.session_id = ${storableSessionText(sessionId)}`}
    ${runId === undefined ? tx`` : ofRun(tx, runId)}
    ${state === undefined ? tx`` : tx`and ${isInState(tx, [state])}`}
    ${imported === undefined ? tx`` : tx`and (e.imported_at is not null) = ${imported}`}
    ${errorCode === undefined ? tx`` : ofErrorCode(tx, errorCode)}`;
}

/**
 * Writes the condition that an evaluation has an error code. A completed one has none; the others are in indexes of their states, which
 * Postgres uses together where each is named as the index has it. Without this it reads all evaluations.
 */
function ofErrorCode(tx: TransactionSql, errorCode: string) {
  return tx`
    and e.error_code = ${storableText(errorCode)}
    and (${isInState(tx, ['skipped', 'error', 'dead', 'cancelled'])} or ${isInState(tx, ['pending', 'running'])}
      or ${isInState(tx, ['paused'])})`;
}

/**
 * Writes the condition that an evaluation is of a run or an experiment. A run schedules none after its last change, give or take the
 * difference of clocks: an old run is not looked for in all that came after it, as Postgres does where it has many evaluations.
 */
function ofRun(tx: TransactionSql, runId: string) {
  return tx`
    and e.run_id = ${runId}
    and e.scheduled_at <= (
      select coalesce(max(r.updated_at) + interval '1 day', 'infinity') from assay.evaluation_runs r where r.run_id = ${runId})`;
}

export function createEvaluations({ sql, clock }: Pick<Context, 'sql' | 'clock'>): Evaluations {
  /** Throws the failure for an evaluation whose state does not allow a change. */
  async function refuse(
    tx: TransactionSql,
    organizationId: string,
    id: string,
    { from, what }: { from: readonly EvaluationState[]; what: string },
  ): Promise<never> {
    const { state, imported_at } = await find(tx, organizationId, id);
    if (imported_at !== null)
      throw new AssayError('conflict', `The evaluation ${id} was imported: it cannot be ${what}`);
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
        const which = { states: RETRIED_FROM, evaluationId: id };
        const retried = await reopen(tx, organizationId, which, new Date(clock.now()));
        if (retried === 0) {
          return refuse(tx, organizationId, id, { from: RETRIED_FROM, what: 'tried again' });
        }
        return show(tx, organizationId, id);
      });
    },

    async cancel(organizationId, id) {
      return inOrganization(sql, organizationId, async (tx) => {
        const cancelled = await tx<ChangedEvaluation[]>`
          update assay.evaluations e set state = 'cancelled', finished_at = ${new Date(clock.now())}
          where organization_id = ${organizationId} and evaluation_id = ${id}
            and state = any(${[...CANCELLED_FROM]}::text[])
          returning ${changedColumns(tx)}`;
        if (cancelled.length === 0) {
          return refuse(tx, organizationId, id, { from: CANCELLED_FROM, what: 'cancelled' });
        }
        await noteEvaluations(tx, organizationId, cancelled);
        return show(tx, organizationId, id);
      });
    },
  };
}
