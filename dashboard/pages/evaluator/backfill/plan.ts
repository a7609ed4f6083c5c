/** A run over history as fields of a form, its price and its duration. Pure. */
import type { DryRun, Run, Stats } from '../../../client/evaluators.ts';
import { numberOf } from '../../../parts/form/number-of.ts';

/** `limit`: the newest so many. `sample`: so many of all. */
export type Plan = {
  q: string;
  how: 'limit' | 'sample';
  n: string;
  seed: string;
  maxCost: string;
  isBatch: boolean;
};

/** Reads the plan of an address. */
export function readPlan(query: Readonly<Record<string, string>>): Plan {
  return {
    q: query.q ?? '',
    how: query.how === 'sample' ? 'sample' : 'limit',
    n: query.n ?? '1000',
    seed: query.seed ?? '',
    maxCost: query.most ?? '',
    isBatch: query.batch === '1',
  };
}

/** Returns a plan as the address holds it. */
export function planQuery({ q, how, n, seed, maxCost, isBatch }: Plan): Record<string, string | null> {
  return {
    q: q || null,
    how: how === 'sample' ? how : null,
    n: n === '1000' ? null : n,
    seed: seed || null,
    most: maxCost || null,
    batch: isBatch ? '1' : null,
  };
}

/** Returns the body of the run; a dry run has the same. */
export function runBody({ q, how, n, seed, maxCost, isBatch }: Plan): Record<string, unknown> {
  const count = numberOf(n);
  const chosenSeed = numberOf(seed);
  const limit = count === undefined ? {} : { limit: count };
  const sample = { sample: { n: count, ...(chosenSeed !== undefined && { seed: chosenSeed }) } };
  return {
    ...(q.trim() === '' ? { filter: 'all' } : { q }),
    ...(how === 'sample' ? sample : limit),
    ...(maxCost.trim() !== '' && { maxCost: Number(maxCost) }),
    ...(isBatch && { batch: true }),
  };
}

/** Returns how many requests a run would score at most. */
export function toScore({ matching, already_scored }: DryRun, { n }: Pick<Plan, 'n'>): number {
  return Math.min(numberOf(n) ?? Number.POSITIVE_INFINITY, Math.max(0, matching - already_scored));
}

/** Fewer evaluations say little of a rate. */
const LEAST_EVALUATIONS = 5;

export type Duration = { ms: number; basis: string };

/**
 * Estimates how long a run takes: by the rate of the newest run that ended with enough evaluations, else as if one judge's
 * call came after another. Null: nothing is known.
 */
export function estimateDuration(
  count: number,
  { runs, stats }: { runs: readonly Run[]; stats: Stats | null },
): Duration | null {
  const ended = runs.find(
    ({ state, completed, failed }) => state === 'completed' && completed + failed >= LEAST_EVALUATIONS,
  );
  if (ended !== undefined) {
    const tookMs = Date.parse(ended.updated_at) - Date.parse(ended.created_at);
    return { ms: (tookMs / (ended.completed + ended.failed)) * count, basis: 'at the rate of the last run' };
  }
  const p50 = stats?.judge.latency_ms.p50 ?? null;
  return p50 === null ? null : { ms: p50 * count, basis: 'at most, as if one call came after another' };
}

/** Returns how far a run has come, from 0 to 1: of what is scheduled so far. */
export function progressOf({ scheduled, pending }: Run): number {
  return scheduled === 0 ? 0 : (scheduled - pending) / scheduled;
}
