/** Experiments in words. Pure. */
import type {
  ExperimentJson,
  ExperimentRunState,
  ExperimentState,
  Target,
} from '#core/contracts/experiment.ts';

export type Look = { word: string; look: string };

/** The states of experiments, each with its word and the look of its chip. */
export const STATES: Readonly<Record<ExperimentState, Look>> = {
  running: { word: 'Running', look: 'chip chip-good' },
  paused: { word: 'Paused', look: 'chip chip-warn' },
  cancelled: { word: 'Cancelled', look: 'chip' },
  budget: { word: 'Budget spent', look: 'chip chip-warn' },
  completed: { word: 'Completed', look: 'chip chip-good' },
};

/** The states of runs, in the order in which they are counted. */
export const RUN_STATES: Readonly<Record<ExperimentRunState, Look>> = {
  error: { word: 'Failed', look: 'chip chip-bad' },
  completed: { word: 'Answered', look: 'chip chip-good' },
  running: { word: 'Running', look: 'chip' },
  pending: { word: 'Waiting', look: 'chip' },
  skipped: { word: 'Skipped', look: 'chip chip-warn' },
};

/** Members that are written out; the others are counted. */
const MOST_MEMBERS = 3;
/** UTF-16 code units of a member's value. */
const LONGEST_VALUE = 40;

/** @example membersText({ temperature: 0 }) // ' with temperature 0' */
function membersText(members: Readonly<Record<string, unknown>> | undefined): string {
  const entries = Object.entries(members ?? {});
  if (entries.length === 0) return '';
  const shown = entries.slice(0, MOST_MEMBERS).map(([name, value]) => {
    const text = JSON.stringify(value);
    return `${name} ${text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text}`;
  });
  const rest = entries.length - shown.length;
  return ` with ${shown.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
}

/**
 * Returns a target in words.
 * @param promptName of a prompt by its id
 * @example targetText({ kind: 'model', model: 'gpt-4o-mini' }, (id) => id) // 'Model gpt-4o-mini'
 */
export function targetText(target: unknown, promptName: (id: string) => string): string {
  const known = target as Target;
  switch (known.kind) {
    case 'model':
      return `Model ${known.model}${membersText(known.parameters as Record<string, unknown>)}`;
    case 'prompt': {
      const where = known.environment === undefined ? '' : `, ${known.environment}`;
      const model = known.model === undefined ? '' : ` on ${known.model}`;
      return `Prompt ${promptName(known.promptId)}${where}${model}`;
    }
    case 'replay':
      return `The same requests again${membersText(known.overrides as Record<string, unknown>)}`;
    case 'recorded':
      return 'The recorded answers';
    default:
      return 'Answers of a job of yours';
  }
}

type Counts = Pick<ExperimentJson, 'runs' | 'completed' | 'failed' | 'skipped'>;

/** Returns how many runs are at their end. */
export function doneOf({ completed, failed, skipped }: Counts): number {
  return completed + failed + skipped;
}

/** Returns how far an experiment is, from 0 to 1. */
export function progressOf(counts: Counts): number {
  return counts.runs === 0 ? 1 : doneOf(counts) / counts.runs;
}

/** Returns whether an experiment, or what grades it, still works. */
export function isUnderWay({ state, ungraded }: Pick<ExperimentJson, 'state' | 'ungraded'>): boolean {
  return state === 'running' || ungraded > 0;
}

type Sided = Pick<ExperimentJson, 'id' | 'target' | 'created_at'>;

/** Returns the ids of experiments, the baseline first: the recorded answers, else the oldest. */
export function withBaselineFirst(experiments: readonly Sided[]): string[] {
  const oldest = experiments.toSorted((a, b) => a.created_at.localeCompare(b.created_at));
  const isRecorded = ({ target }: Sided) => (target as Target).kind === 'recorded';
  const baseline = oldest.find(isRecorded) ?? oldest[0];
  return oldest.toSorted((a, b) => Number(b === baseline) - Number(a === baseline)).map(({ id }) => id);
}
