/** The values that a criterion allows, and each grade as one number: true is 1 and false 0, a label is its place in the list. */
import { quoteValue } from '../contracts/quote-value.ts';
import { middleOf } from '../statistics/mod.ts';

/** A label's score is null where it has none. */
export type Category = { label: string; score: number | null };

export type Kind =
  | { type: 'boolean' }
  /** `step` null: any number from `min` to `max`. */
  | { type: 'scale'; min: number; max: number; step: number | null }
  | { type: 'categories'; labels: readonly Category[] };

export const KIND_TYPES = ['boolean', 'scale', 'categories'] as const satisfies readonly Kind['type'][];

export type GradeValue = boolean | number | string;

/** Difference from a whole number of steps that binary fractions bring. */
const TOLERANCE = 1e-9;
/** Decimal digits of a grade on a scale, so that equal steps are equal numbers. */
const PRECISION = 12;

/** Returns the number of steps from the beginning of a scale to a value; null when it is between two of them. */
export function stepsTo(scale: { min: number; step: number }, value: number): number | null {
  const steps = (value - scale.min) / scale.step;
  return Math.abs(steps - Math.round(steps)) < TOLERANCE * Math.max(1, steps) ? Math.round(steps) : null;
}

/** Returns a label for comparison: without spaces around it, in lower case. */
export function foldCategory(label: string): string {
  return label.trim().toLowerCase();
}

/** A grade as a number, or the rule that it breaks. */
export type Coded = { code: number } | { rule: string };

function codeOnScale(scale: Extract<Kind, { type: 'scale' }>, value: GradeValue): Coded {
  const { min, max, step } = scale;
  const outside = { rule: `must be a number from ${min} to ${max}, but is ${quoteValue(value)}` };
  if (typeof value !== 'number') return outside;
  if (step === null) return value < min || value > max ? outside : { code: value };
  const steps = stepsTo({ min, step }, value);
  // In binary fractions three steps of 0.1 are more than 0.3, and -0.1 less 0.2 is less than -0.3.
  const isLast = steps !== null && steps === stepsTo({ min, step }, max);
  if ((value < min && steps !== 0) || (value > max && !isLast)) return outside;
  if (steps === null)
    return { rule: `must be ${min} and a whole number of steps of ${step}, but is ${value}` };
  return { code: Number((min + steps * step).toPrecision(PRECISION)) };
}

/** Returns a grade as a number, or the rest of a sentence that begins with the name of the value. */
export function codeOf(kind: Kind, value: GradeValue): Coded {
  switch (kind.type) {
    case 'boolean':
      if (typeof value === 'boolean') return { code: Number(value) };
      return { rule: `must be true or false, but is ${quoteValue(value)}` };
    case 'scale':
      return codeOnScale(kind, value);
    case 'categories': {
      const wanted = typeof value === 'string' ? foldCategory(value) : null;
      const code = kind.labels.findIndex(({ label }) => foldCategory(label) === wanted);
      if (code !== -1) return { code };
      const labels = kind.labels.map(({ label }) => quoteValue(label)).join(', ');
      return { rule: `must be one of ${labels}, but is ${quoteValue(value)}` };
    }
  }
}

/** Returns the grade that a number stands for. */
export function gradeOf(kind: Kind, code: number): GradeValue {
  if (kind.type === 'boolean') return code === 1;
  return kind.type === 'scale' ? code : (kind.labels[code]?.label ?? '');
}

/** The grades that mean "good": from a number on, or those of some labels. */
export type Passing = { from: number } | { labels: number[] };

/**
 * Returns the grades that mean "good": true, and what lies in the upper half of a scale or of the labels' scores, its middle
 * included, as an evaluator's scores do by default. Null when a label has no score.
 */
export function passingOf(kind: Kind): Passing | null {
  if (kind.type === 'boolean') return { from: 1 };
  if (kind.type === 'scale') return { from: middleOf(kind.min, kind.max) };
  const scores = kind.labels.map(({ score }) => score).filter((score) => score !== null);
  if (scores.length < kind.labels.length) return null;
  const middle = middleOf(Math.min(...scores), Math.max(...scores));
  return { labels: scores.flatMap((score, code) => (score >= middle ? [code] : [])) };
}
