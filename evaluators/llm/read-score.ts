/** Parses the value that a judge gives as its score. A value that is not plainly a score is an error, never a guess. */
import { type Choice, findChoice } from '#core/contracts/categories.ts';
import { quoteValue } from '#core/contracts/check.ts';
import type { EvaluationErrorCode } from '#core/scoring/mod.ts';
import type { Scale } from './scale.ts';

/** A score, and for choices its label. */
export type ParsedScore = { score: number; label: string | null };

/** The reason why there is no score. `message` is a clause about the judge's answer. */
export type ScoreProblem = {
  code: Extract<
    EvaluationErrorCode,
    'judge_no_verdict' | 'judge_malformed' | 'judge_out_of_range' | 'judge_unknown_choice'
  >;
  message: string;
};

/** Judges may compute in binary floating point: 0.1 + 0.2 counts as within 0.3. */
const TOLERANCE = 1e-9;
/** ASCII digits with an optional sign, decimal point and exponent: neither `4/5` nor `4,5` nor `1,000` nor `４`. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i;
const NOT_FINITE = /^[+-]?(?:nan|inf|infinity)$/i;

/** Narrows the result of `readScore`. */
export function isScoreProblem<Score extends ParsedScore>(
  value: Score | ScoreProblem,
): value is ScoreProblem {
  return 'code' in value;
}

/** Parses the value of `score` on a scale. */
export function readScore(value: unknown, scale: Scale): ParsedScore | ScoreProblem {
  if (value === undefined || value === null || (typeof value === 'string' && value.trim() === '')) {
    return { code: 'judge_no_verdict', message: 'it gives no score' };
  }
  switch (scale.kind) {
    case 'boolean':
      return readBoolean(value);
    case 'choice':
      return readChoice(value, scale.choices);
    case 'range':
      return readNumber(value, scale);
  }
}

const BOOLEANS: Readonly<Record<string, number>> = { true: 1, yes: 1, '1': 1, false: 0, no: 0, '0': 0 };

function readBoolean(value: unknown): ParsedScore | ScoreProblem {
  const isPlain = typeof value === 'boolean' || typeof value === 'string' || typeof value === 'number';
  const folded = isPlain ? String(value).trim().toLowerCase() : '';
  const score = Object.hasOwn(BOOLEANS, folded) ? BOOLEANS[folded] : undefined;
  if (score !== undefined) return { score, label: null };
  return { code: 'judge_malformed', message: `its score ${quoteValue(value)} is neither true nor false` };
}

function readNumber(value: unknown, { min, max }: { min: number; max: number }): ParsedScore | ScoreProblem {
  const number = toNumber(value);
  if (number === null) {
    return { code: 'judge_malformed', message: `its score ${quoteValue(value)} is not a number` };
  }
  // The comparison is negated so that NaN is out of range.
  if (!(number >= min - TOLERANCE && number <= max + TOLERANCE)) {
    const shown = Number.isFinite(number) ? String(number) : quoteValue(String(value).slice(0, 40));
    return { code: 'judge_out_of_range', message: `its score ${shown} is not within ${min} to ${max}` };
  }
  // A number within the tolerance means the bound; adding 0 turns -0 into 0.
  return { score: Math.min(Math.max(number, min), max) + 0, label: null };
}

function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (NOT_FINITE.test(text)) return Number.NaN;
  return DECIMAL.test(text) ? Number(text) : null;
}

function readChoice(value: unknown, choices: readonly Choice[]): ParsedScore | ScoreProblem {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  const choice = isPlain ? findChoice(String(value), choices) : null;
  if (choice !== null) return { score: choice.score, label: choice.description };
  return {
    code: isPlain ? 'judge_unknown_choice' : 'judge_malformed',
    message: `its score ${quoteValue(value)} is none of the choices`,
  };
}
