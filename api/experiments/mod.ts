/** Experiments: made, watched, paused, resumed and cancelled here; the evaluators make their calls. */
import { EXPERIMENTS_CHANNEL } from '#core/contracts/channels.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type {
  ExperimentBody,
  ExperimentJson,
  ExperimentListJson,
  ExperimentQueryBody,
  ExperimentRunsBody,
  ExperimentRunsJson,
  ExperimentState,
} from '#core/contracts/experiment.ts';
import type { ExperimentEstimateJson } from '#core/contracts/experiment-estimate.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { containing } from '#core/filter/mod.ts';
import { inOrganization, noteUrgent, type TransactionSql } from '#platform/postgres/mod.ts';
import { readUuid, unknown } from '../ids.ts';
import type { LogRequest } from '../log/mod.ts';
import { type Compare, createCompare } from './compare.ts';
import type { Context } from './context.ts';
import { type Author, createExperiment } from './create.ts';
import { estimateExperiment } from './estimate.ts';
import { counts, type ExperimentRow, experimentJson, type RunRow, runJson } from './experiment-json.ts';
import { chooseFromLog, datasetFromLog } from './from-log.ts';
import { createGate, type Gate } from './gate.ts';
import { createPostOutput, type PostOutput } from './output.ts';

/** The work behind the routes of `/v1/experiment`, for one organization at a time. An unknown experiment is a not_found. */
export type ExperimentService = {
  /** Makes an experiment and starts it, or tells with `dryRun` what it would take. */
  create(key: Author, body: ExperimentBody): Promise<ExperimentJson | ExperimentEstimateJson>;
  get(organizationId: string, experimentId: string): Promise<ExperimentJson>;
  /** Newest first. */
  query(organizationId: string, body: ExperimentQueryBody): Promise<ExperimentListJson>;
  /** In the order of the seed. */
  runs(organizationId: string, experimentId: string, body: ExperimentRunsBody): Promise<ExperimentRunsJson>;
  /** Takes the answer of one run, where the target is external. */
  postOutput: PostOutput;
  /** Compares candidates with a baseline. */
  compare: Compare;
  /** Holds an experiment that has ended against rules. */
  gate: Gate;
  pause(organizationId: string, experimentId: string): Promise<ExperimentJson>;
  resume(organizationId: string, experimentId: string): Promise<ExperimentJson>;
  cancel(organizationId: string, experimentId: string): Promise<ExperimentJson>;
};

const DEFAULT_PAGE = 20;
const DEFAULT_RUNS = 50;

async function find(
  tx: TransactionSql,
  organizationId: string,
  experimentId: string,
): Promise<ExperimentJson> {
  const [row] = await tx<ExperimentRow[]>`
    select x.*, n.*, g.* from assay.experiments x ${counts(tx)}
     where x.organization_id = ${organizationId} and x.experiment_id = ${experimentId}`;
  if (row === undefined) throw unknown('experiment', experimentId);
  return experimentJson(row);
}

type Move = { from: readonly ExperimentState[]; to: ExperimentState; what: string };

const PAUSE: Move = { from: ['running'], to: 'paused', what: 'paused' };
const RESUME: Move = { from: ['paused'], to: 'running', what: 'resumed' };
const CANCEL: Move = { from: ['running', 'paused', 'budget'], to: 'cancelled', what: 'cancelled' };

/** Ends the transaction of a dry run, which keeps nothing. */
class NotKept extends Error {
  readonly estimate: ExperimentEstimateJson;

  constructor(estimate: ExperimentEstimateJson) {
    super('A dry run keeps nothing');
    this.estimate = estimate;
  }
}

export function createExperimentService(
  context: Context,
  { logRequest }: { logRequest: LogRequest },
): ExperimentService {
  const { sql, clock, prices } = context;

  /** Moves an experiment to another state; one that is in it already stays. */
  async function move(organizationId: string, id: string, { from, to, what }: Move): Promise<ExperimentJson> {
    const experimentId = readUuid('experiment', id);
    noteUrgent();
    return await inOrganization(sql, organizationId, async (tx) => {
      const [row] = await tx<{ state: ExperimentState }[]>`
        select state from assay.experiments
         where organization_id = ${organizationId} and experiment_id = ${experimentId} for update`;
      if (row === undefined) throw unknown('experiment', id);
      if (row.state !== to && !from.includes(row.state)) {
        const allowed = from.join(' or ');
        throw new AssayError(
          'conflict',
          `The experiment is ${row.state}: only one that is ${allowed} can be ${what}`,
        );
      }
      if (row.state !== to) {
        await tx`
          update assay.experiments
             set state = ${to}, paused_reason = null, updated_at = ${new Date(clock.now())},
                 finished_at = ${to === 'cancelled' ? new Date(clock.now()) : null}
           where experiment_id = ${experimentId}`;
        if (to === 'running') await tx`select pg_notify(${EXPERIMENTS_CHANNEL}, '')`;
      }
      return await find(tx, organizationId, experimentId);
    });
  }

  async function create(key: Author, body: ExperimentBody): Promise<ExperimentJson | ExperimentEstimateJson> {
    const { organizationId } = key;
    const chosen = await chooseFromLog({ sql }, organizationId, body);
    const at = new Date(clock.now());
    try {
      return await inOrganization(sql, organizationId, async (tx) => {
        const { datasetId, skipped } =
          chosen === null
            ? { datasetId: body.datasetId!, skipped: [] }
            : await datasetFromLog(tx, key, { name: body.name, from: body.from!, chosen, at });
        const experimentId = await createExperiment(tx, key, { ...body, datasetId }, at);
        if (body.dryRun !== true) return await find(tx, organizationId, experimentId);
        const made = { experimentId, organizationId, skipped, prices, nowMs: at.getTime() };
        throw new NotKept(await estimateExperiment(tx, made));
      });
    } catch (error) {
      if (error instanceof NotKept) return error.estimate;
      throw error;
    }
  }

  async function get(organizationId: string, id: string): Promise<ExperimentJson> {
    const experimentId = readUuid('experiment', id);
    return await inOrganization(sql, organizationId, (tx) => find(tx, organizationId, experimentId));
  }

  const compare = createCompare({ sql });

  return {
    create,

    get,

    query: (organizationId, { search = '', datasetId, limit = DEFAULT_PAGE, after }) => {
      const dataset = datasetId === undefined ? null : readUuid('dataset', datasetId);
      const text = storableText(search);
      const last = after === undefined ? null : readUuid('experiment', after);
      return inOrganization(sql, organizationId, async (tx) => {
        const rows = await tx<ExperimentRow[]>`
          select x.*, n.*, g.* from (
            select * from assay.experiments
             where organization_id = ${organizationId} and (${dataset}::uuid is null or dataset_id = ${dataset}::uuid)
               and (${text} = '' or name ilike ${containing(text)})
               and (${last}::uuid is null or (created_at, experiment_id) < (
                 select created_at, experiment_id from assay.experiments
                  where organization_id = ${organizationId} and experiment_id = ${last}::uuid))
             order by created_at desc, experiment_id desc limit ${limit}) x ${counts(tx)}
           order by x.created_at desc, x.experiment_id desc`;
        return {
          experiments: rows.map(experimentJson),
          next: rows.length < limit ? null : rows.at(-1)!.experiment_id,
        };
      });
    },

    runs: async (organizationId, id, { state, limit = DEFAULT_RUNS, after = 0 }) => {
      const experimentId = readUuid('experiment', id);
      return await inOrganization(sql, organizationId, async (tx) => {
        await find(tx, organizationId, experimentId);
        const rows = await tx<RunRow[]>`
          select item_id, repetition, position, state, request_id, attempts, error_code, error_message, finished_at
            from assay.experiment_runs
           where experiment_id = ${experimentId} and position > ${after} and (${state ?? null}::text is null or state = ${state ?? null})
           order by position limit ${limit}`;
        return { runs: rows.map(runJson), next: rows.length < limit ? null : rows.at(-1)!.position };
      });
    },

    postOutput: createPostOutput(context, { logRequest }),
    compare,
    gate: createGate({ compare, find: get }),
    pause: (organizationId, id) => move(organizationId, id, PAUSE),
    resume: (organizationId, id) => move(organizationId, id, RESUME),
    cancel: (organizationId, id) => move(organizationId, id, CANCEL),
  };
}
