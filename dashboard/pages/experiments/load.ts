/** The data that the pages of experiments load. */
import type { DatasetJson } from '#core/contracts/dataset.ts';
import type {
  ExperimentJson,
  ExperimentListJson,
  ExperimentQueryBody,
  Target,
} from '#core/contracts/experiment.ts';
import type { PromptJson } from '#core/contracts/prompt.ts';
import { ApiFailure, call } from '../../client/call.ts';
import type { Evaluator } from '../../client/evaluators.ts';
import { createGate } from '../../client/gate.ts';
import { type Resource, useResource } from '../../client/resource.ts';
import { datasetPath } from '../../parts/datasets/load.ts';
import { type Choices, MOST_CHOICES } from '../../parts/form/choices.ts';

/** While something runs. */
export const POLL_MS = 1_000;
export const REST_MS = 15_000;

/** Names by ids, of what experiments are made of. What is there no more has none. */
export type Names = {
  datasets: ReadonlyMap<string, string>;
  prompts: ReadonlyMap<string, string>;
  evaluators: ReadonlyMap<string, string>;
};

const NO_NAMES: Names = { datasets: new Map(), prompts: new Map(), evaluators: new Map() };

/** Of the six connections that a browser has to one host. */
const gate = createGate(3);

/** Stands for a thing that is there no more. */
function orUnknown(error: unknown): null {
  if (error instanceof ApiFailure && error.status === 404) return null;
  throw error;
}

async function namesOf(
  ids: readonly string[],
  pathOf: (id: string) => string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(
    ids.map(async (id): Promise<[string, string][]> => {
      const load = () => call<DatasetJson | PromptJson>('GET', pathOf(id), undefined, signal);
      const found = await gate(load, signal).catch(orUnknown);
      return found === null ? [] : [[id, found.name]];
    }),
  );
  return new Map(found.flat());
}

async function evaluatorNames(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const evaluators = await call<Evaluator[]>('GET', '/v1/evaluator', undefined, signal);
  return new Map(evaluators.map(({ id, name }) => [id, name]));
}

/** Loads the names of what experiments are made of. */
export function useNames(experiments: readonly ExperimentJson[]): {
  names: Names;
  resource: Resource<Names>;
} {
  const unique = (ids: readonly string[]) => [...new Set(ids)].toSorted();
  const datasets = unique(experiments.map(({ dataset_id }) => dataset_id));
  const prompts = unique(
    experiments.flatMap(({ target }) => {
      const known = target as Target;
      return known.kind === 'prompt' ? [known.promptId] : [];
    }),
  );
  const hasEvaluators = experiments.some(({ evaluators }) => evaluators.length > 0);
  const key = `experiment names ${datasets} ${prompts} ${hasEvaluators}`;
  const resource = useResource(experiments.length === 0 ? null : key, async (signal): Promise<Names> => {
    const [ofDatasets, ofPrompts, ofEvaluators] = await Promise.all([
      namesOf(datasets, (id) => datasetPath(id), signal),
      namesOf(prompts, (id) => `/v1/prompt-2025/id/${encodeURIComponent(id)}`, signal),
      hasEvaluators ? evaluatorNames(signal) : NO_NAMES.evaluators,
    ]);
    return { datasets: ofDatasets, prompts: ofPrompts, evaluators: ofEvaluators };
  });
  return { names: resource.data ?? NO_NAMES, resource };
}

function loadExperiment(id: string, signal: AbortSignal): Promise<ExperimentJson> {
  return call('GET', `/v1/experiment/${encodeURIComponent(id)}`, undefined, signal);
}

/** Returns the experiments over a dataset, to choose of. */
export function experimentsOver(datasetId: string): Choices<ExperimentJson> {
  return {
    key: `experiments over ${datasetId}`,
    find: async (search, signal) => {
      const body: ExperimentQueryBody = { datasetId, search, limit: MOST_CHOICES };
      return (await call<ExperimentListJson>('POST', '/v1/experiment/query', body, signal)).experiments;
    },
    load: loadExperiment,
  };
}

/** Names an experiment among those over one dataset. */
export const choiceName = ({ name, dataset_version }: ExperimentJson) =>
  `${name} (version ${dataset_version})`;

/** Loads experiments; what is there no more is left out. */
export function useExperiments(ids: readonly string[]): Resource<ExperimentJson[]> {
  return useResource(`experiments ${ids}`, async (signal) => {
    const loads = ids.map((id) => loadExperiment(id, signal).catch(orUnknown));
    return (await Promise.all(loads)).flatMap((one) => one ?? []);
  });
}

/** Loads an experiment; null: none. */
export function useExperiment(
  id: string | null,
  options?: { everyMs: number | null },
): Resource<ExperimentJson> {
  return useResource(
    id === null ? null : `experiment ${id}`,
    (signal) => loadExperiment(id!, signal),
    options,
  );
}
