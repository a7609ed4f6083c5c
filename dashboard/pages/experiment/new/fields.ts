/** The fields of a new experiment, and the body that they stand for. Pure. */
import type { ExperimentBody, Target } from '#core/contracts/experiment.ts';

export type Kind = 'model' | 'prompt' | 'replay' | 'recorded';

export type Fields = {
  name: string;
  datasetId: string;
  /** Empty: the newest. */
  version: string;
  /** Empty: all items. */
  split: string;
  kind: Kind;
  /** Of a model, or in place of a prompt's. */
  model: string;
  /** JSON of members that replace those of the item. Empty: none. */
  members: string;
  promptId: string;
  /** `version <id>` or `environment <name>`. */
  promptVersion: string;
  evaluatorIds: readonly string[];
  repetitions: string;
  maxCost: string;
  concurrency: string;
  seed: string;
  isCached: boolean;
};

/** Returns the fields of a form that an address opens. */
export function fieldsOf({
  dataset = '',
  version = '',
  split = '',
}: Readonly<Record<string, string>>): Fields {
  return {
    name: '',
    datasetId: dataset,
    version,
    split,
    kind: 'model',
    model: '',
    members: '',
    promptId: '',
    promptVersion: '',
    evaluatorIds: [],
    repetitions: '1',
    maxCost: '',
    concurrency: '',
    seed: '',
    isCached: false,
  };
}

/** Returns what is wrong with the JSON of members; null: nothing. */
export function membersFault(text: string): string | null {
  if (text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? null : 'Must be a JSON object, such as {"temperature": 0}';
  } catch {
    return 'Must be JSON, such as {"temperature": 0}';
  }
}

const membersOf = (text: string) => (text.trim() === '' ? null : (JSON.parse(text) as object));

function targetOf({ kind, model, members, promptId, promptVersion }: Fields): Target {
  const own = membersOf(kind === 'model' || kind === 'replay' ? members : '');
  const name = model.trim();
  if (kind === 'model') return { kind, model: name, ...(own !== null && { parameters: own }) };
  if (kind === 'replay') return { kind, ...(own !== null && { overrides: own }) };
  if (kind === 'recorded') return { kind };
  const [what, ...rest] = promptVersion.split(' ');
  const chosen = rest.join(' ');
  return {
    kind,
    promptId,
    ...(what === 'environment' ? { environment: chosen } : { versionId: chosen }),
    ...(name !== '' && { model: name }),
  };
}

/** Returns whether all is there that the API needs. */
export function isReady(fields: Fields): boolean {
  const { name, datasetId, kind, model, members, promptId, promptVersion } = fields;
  if (name.trim() === '' || datasetId === '') return false;
  if (kind === 'model') return model.trim() !== '' && membersFault(members) === null;
  if (kind === 'replay') return membersFault(members) === null;
  return kind === 'recorded' || (promptId !== '' && promptVersion !== '');
}

/** Returns a field as a member of the body; an empty one is left out. */
function numberOf<Name extends string>(name: Name, text: string): { [name in Name]?: number } {
  return (text.trim() === '' ? {} : { [name]: Number(text) }) as { [name in Name]?: number };
}

/** Returns the body of fields that are ready. */
export function bodyOf(fields: Fields): ExperimentBody {
  const { name, datasetId, version, split, evaluatorIds, isCached } = fields;
  return {
    name,
    datasetId,
    ...numberOf('datasetVersion', version),
    ...(split.trim() !== '' && { split: split.trim() }),
    target: targetOf(fields),
    ...(evaluatorIds.length > 0 && { evaluatorIds: [...evaluatorIds] }),
    ...numberOf('repetitions', fields.repetitions),
    ...numberOf('maxCost', fields.maxCost),
    ...numberOf('concurrency', fields.concurrency),
    ...numberOf('seed', fields.seed),
    ...(isCached && { cache: true }),
  };
}
