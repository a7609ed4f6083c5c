/** What an evaluator does at the moment, in a word. */
import type { PauseReason, ScoringType } from '#core/evaluations/mod.ts';
import type { Evaluator, OnlineEvaluator, Run, Stats } from '../../client/evaluators.ts';

/** What an evaluator's row takes from other calls. */
export type Facts = { stats: Stats; online: OnlineEvaluator[]; runs: Run[] };

export type Standing = {
  word: 'Paused' | 'Waiting' | 'Active' | 'Running' | 'Idle' | 'Draft';
  tone: 'good' | 'warn' | 'bad' | null;
  why: string;
};

/** Returns the kind of evaluator in words. */
export function kindOf(scoringType: ScoringType): string {
  const kinds = {
    'LLM-BOOLEAN': 'LLM judge, yes or no',
    'LLM-CHOICE': 'LLM judge, choices',
    'LLM-RANGE': 'LLM judge, range',
    PYTHON: 'Python',
    EXTERNAL: 'External',
    'LLM-RUBRIC': 'LLM judge, several criteria',
    'LLM-PAIRWISE': 'LLM judge, pairs',
  };
  return kinds[scoringType];
}

/** Returns the runs that are not at their end. */
export function openRuns(runs: readonly Run[]): Run[] {
  return runs.filter(({ state }) => state === 'running' || state === 'paused');
}

/** Returns the standing of an evaluator; without facts, as far as it is known. */
export function standingOf(
  { paused, waiting }: Pick<Evaluator, 'paused' | 'waiting'>,
  facts: Facts | null,
): Standing | null {
  if (paused !== null)
    return { word: 'Paused', tone: 'bad', why: `${PAUSES[paused.reason]}: ${paused.message}` };
  if (waiting !== null) return { word: 'Waiting', tone: 'warn', why: waiting };
  if (facts === null) return null;
  const { online, runs, stats } = facts;
  if (online.some(({ config }) => config.sampleRate > 0)) {
    return { word: 'Active', tone: 'good', why: 'It scores requests as they are logged' };
  }
  if (openRuns(runs).length > 0) return { word: 'Running', tone: 'good', why: 'It scores history' };
  if (stats.evaluations.total > 0) return { word: 'Idle', tone: null, why: 'It is attached to no traffic' };
  return { word: 'Draft', tone: null, why: 'It has scored nothing, and is attached to no traffic' };
}

const PAUSES: Readonly<Record<PauseReason, string>> = {
  auth: 'The judge refuses the key',
  billing: 'The judge wants to be paid',
  model: "The judge's model cannot be called",
  filter: 'A filter fails',
};

/** Returns the sampling of the traffic in words: `10%`, or `10% + 50%` of two attachments. */
export function sampling(online: readonly OnlineEvaluator[]): string {
  return online.map(({ config }) => `${config.sampleRate}%`).join(' + ');
}
