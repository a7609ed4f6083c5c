/** Groups an evaluator's scores into buckets. Pure. */
import { type Static, Type } from '@sinclair/typebox';
import { foldLabel } from '#core/contracts/categories.ts';
import { closed } from '#core/contracts/shapes.ts';
import { choicesFor, rangeOf, type ScoreDefinition } from './threshold.ts';

/** The version of an evaluator that the statistics describe. */
export type Version = ScoreDefinition & {
  organizationId: string;
  evaluatorId: string;
  version: number;
  threshold: number | null;
};

const Count = Type.Integer();
export const Bucket = Type.Union([
  Type.Object(
    { from: Type.Number(), to: Type.Number(), count: Count },
    { ...closed, description: 'Scores from `from` up to and without `to`; the last bucket: with it' },
  ),
  Type.Object(
    { label: Type.String(), score: Type.Number(), count: Count },
    { ...closed, description: 'Scores of one choice' },
  ),
]);
export type Bucket = Static<typeof Bucket>;

const BUCKETS = 10;
/** Returns empty buckets: one for each choice where there are choices, else ten of equal width over the range of scores. */
export function bucketsOf(version: Version, scores: { min: number | null; max: number | null }): Bucket[] {
  const { scoringType } = version;
  if (scoringType === 'LLM-BOOLEAN') {
    return [
      { label: 'false', score: 0, count: 0 },
      { label: 'true', score: 1, count: 0 },
    ];
  }
  const choices = choicesFor(version);
  if (choices !== undefined) {
    return choices.map(({ description, score }) => ({ label: description, score, count: 0 }));
  }
  const range = rangeOf(version);
  const from = range?.min ?? scores.min;
  const to = range?.max ?? scores.max;
  if (from === null || to === null) return [];
  if (from === to) return [{ from, to, count: 0 }];
  const edges = edgesOf(from, to);
  return edges.slice(1).map((edge, index) => ({ from: edges[index]!, to: edge, count: 0 }));
}

/** Returns the edges of ten buckets: ascending even where the range is tiny, and finite however large it is. */
function edgesOf(from: number, to: number): number[] {
  const edges = [from];
  for (let index = 1; index < BUCKETS; index += 1) {
    const plain = (from * (BUCKETS - index) + to * index) / BUCKETS;
    const large = (from / BUCKETS) * (BUCKETS - index) + (to / BUCKETS) * index;
    const edge = Number.isFinite(plain) ? plain : large;
    edges.push(Math.min(to, Math.max(edges.at(-1)!, edge)));
  }
  return [...edges, to];
}

/** Returns whether a score belongs to the bucket of a choice: by its label if it has one, else by its value. */
export function isOfChoice(bucket: Bucket, given: { label: string | null; score: number }): boolean {
  if (!('label' in bucket)) return false;
  if (given.label === null) return bucket.score === given.score;
  return foldLabel(bucket.label) === foldLabel(given.label);
}
