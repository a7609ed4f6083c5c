/** Reads a score from the value that a judge gives. Anything that is not plainly a score is an error, never a guess. */
import { quoteValue } from '#core/contracts/check.ts';
import type { Choice } from '#core/contracts/evaluator.ts';
import type { EvaluationErrorCode } from '#core/scoring/mod.ts';
import type { Scale } from './scale.ts';

export type Scored = { score: number; label: string | null };

/** The reason for which there is no score. `message` is a clause about the judge's reply. */
export type Problem = {
  code: Extract<
    EvaluationErrorCode,
    'judge_no_verdict' | 'judge_malformed' | 'judge_out_of_range' | 'judge_unknown_choice'
  >;
  message: string;
};

/** Judges compute with doubles too: 0.1 + 0.2 is within 0.3. */
const SLOP = 1e-9;
/** ASCII digits, a decimal point, nothing else: neither `4/5` nor `4,5` nor `1,000` nor `４`. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i;
const NOT_FINITE = /^[+-]?(?:nan|inf|infinity)$/i;

export function isProblem(value: Scored | Problem): value is Problem {
  return 'code' in value;
}

/** Reads the value of `score`. */
export function readScore(value: unknown, scale: Scale): Scored | Problem {
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

function readBoolean(value: unknown): Scored | Problem {
  const isPlain = typeof value === 'boolean' || typeof value === 'string' || typeof value === 'number';
  const folded = isPlain ? String(value).trim().toLowerCase() : '';
  const score = Object.hasOwn(BOOLEANS, folded) ? BOOLEANS[folded] : undefined;
  if (score !== undefined) return { score, label: null };
  return { code: 'judge_malformed', message: `its score ${quoteValue(value)} is neither true nor false` };
}

function readNumber(value: unknown, { min, max }: { min: number; max: number }): Scored | Problem {
  const number = toNumber(value);
  if (number === null) {
    return { code: 'judge_malformed', message: `its score ${quoteValue(value)} is not a number` };
  }
  // Written so that NaN is outside.
  if (!(number >= min - SLOP && number <= max + SLOP)) {
    const shown = Number.isFinite(number) ? String(number) : quoteValue(String(value).slice(0, 40));
    return { code: 'judge_out_of_range', message: `its score ${shown} is not within ${min} to ${max}` };
  }
  // Within the slop it is the bound that was meant; adding 0 makes 0 of -0.
  return { score: Math.min(Math.max(number, min), max) + 0, label: null };
}

function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (NOT_FINITE.test(text)) return Number.NaN;
  return DECIMAL.test(text) ? Number(text) : null;
}

/** What two labels may differ in, the lesser first. */
const FOLDS: readonly ((label: string) => string)[] = [
  (label) => label,
  (label) => label.normalize('NFC').replaceAll(/\s+/gu, ' ').trim().toLowerCase(),
  (label) => label.normalize('NFC').replaceAll(/\s+/gu, '').toLowerCase(),
];

function readChoice(value: unknown, choices: readonly Choice[]): Scored | Problem {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  const choice = isPlain ? findChoice(String(value), choices) : null;
  if (choice !== null) return { score: choice.score, label: choice.description };
  return {
    code: isPlain ? 'judge_unknown_choice' : 'judge_malformed',
    message: `its score ${quoteValue(value)} is none of the choices`,
  };
}

/** The choice of these words; one that differs in case or spaces only where no other does. */
function findChoice(label: string, choices: readonly Choice[]): Choice | null {
  for (const fold of FOLDS) {
    const folded = fold(label);
    const found = choices.filter(({ description }) => fold(description) === folded);
    if (found.length > 0) return found.length === 1 ? found[0]! : null;
  }
  return null;
}
