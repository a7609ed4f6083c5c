/** Runs over history, created through the API and scheduled by hand, page by page. */
import type { Test } from 'tap';
import { createLogger } from '#platform/observability/log.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { scheduleNextPage } from '../../../../evaluators/worker/runs.ts';
import { type Evaluator, type World, worldIn } from '../../../support/evaluation-queue.ts';
import { PYTHON, startEvaluatorApi } from '../../../support/evaluators-process.ts';

export const log = createLogger({ role: 'test', level: 'silent' });

/** Keeps every other transaction from writing evaluations. */
export const lockEvaluations = (tx: TransactionSql) => tx`lock table assay.evaluations in share mode`;
/** Requests scheduled in one transaction, and unfinished evaluations of a run, at most. */
export const PAGE = 500;
export const MAX_WAITING = 2_000;
export const OK = { response: { status: { equals: 200 } } };

export type Run = {
  id: string;
  state: string;
  looking_for: string | null;
  reached: string | null;
  scheduled: number;
  pending: number;
  completed: number;
  cancelled: number;
};
export type DryRun = { matching: number; already_scored: number };

/** Starts the API on a database of its own, with shortcuts for evaluators and their runs. */
export async function setUp(t: Test) {
  const api = await startEvaluatorApi(t);
  const world = await worldIn(t, api.database);
  const organizationId = api.own.organizationId;
  const make = async (name: string, body: object = PYTHON): Promise<Evaluator> => {
    const { id } = await api.make('/v1/evaluator', { name, ...body });
    return { organizationId, evaluatorId: id, version: 1, scoringType: 'PYTHON', scoreKey: name };
  };
  const runPath = ({ evaluatorId }: Evaluator) => `/v1/evaluator/${evaluatorId}/run`;
  return {
    api,
    world,
    organizationId,
    make,
    start: (evaluator: Evaluator, body: object = {}) =>
      api.make<Run>(runPath(evaluator), { filter: 'all', ...body }),
    dryRun: (evaluator: Evaluator, body: object = {}) =>
      api.make<DryRun>(runPath(evaluator), { filter: 'all', dryRun: true, ...body }),
    get: (evaluator: Evaluator, run: Run) => api.make<Run>(`${runPath(evaluator)}/${run.id}`),
    tell: (evaluator: Evaluator, run: Run, what: 'pause' | 'resume' | 'cancel') =>
      api.make<Run>(`${runPath(evaluator)}/${run.id}/${what}`, {}),
  };
}

/** Schedules pages until no run can continue. Returns the number scheduled of each page. */
export async function scheduleAll({ sql }: World): Promise<number[]> {
  const pages: number[] = [];
  for (;;) {
    const scheduled = await scheduleNextPage(sql, log);
    if (scheduled === null) return pages;
    pages.push(scheduled);
  }
}

export const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

export type Scheduled = {
  request_id: string;
  state: string;
  priority: number;
  version: number;
  run_id: string | null;
};

/** Returns the evaluations of an evaluator, by request. */
export const scheduledOf = async (world: World, { evaluatorId }: Evaluator) =>
  await world.sql<Scheduled[]>`
    select request_id, state, priority, version, run_id from assay.evaluations
     where evaluator_id = ${evaluatorId} order by request_id`;

export const requestIds = (rows: readonly Scheduled[]) => rows.map((row) => row.request_id);
