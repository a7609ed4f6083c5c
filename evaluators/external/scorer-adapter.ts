/** The adapter `autoevals`: reads the answer and the expected value as a scorer needs them, and scores them in process. */
import type { ScorerConfig } from '#core/contracts/external.ts';
import { isRawNumber } from '#core/json/mod.ts';
import type { Subject } from '#core/scoring/mod.ts';
import type { ExternalAdapter, UncheckedScore } from './adapter.ts';
import { expectedValueOf } from './expected-value.ts';
import { ExternalFailure } from './failure.ts';
import { runScorer, type ScorerJob } from './run-scorer.ts';

/**
 * The time of an edit distance grows with the product of both lengths: at most a second with this bound, which admits an
 * answer of 1,500 words.
 */
const MAX_CHARACTERS = 8_192;
/** The time of pairing two lists grows with the cube of their length. */
const MAX_LIST_ITEMS = 100;
/** The comparison of JSON recurses once for each level. */
const MAX_LEVELS = 100;

/** Scores one record at a time, in this thread. */
export const scorerAdapter: ExternalAdapter<ScorerConfig> = {
  maxItems: 1,
  score: async (call, items) =>
    items.map(({ subject }): UncheckedScore => {
      const job = jobOf(call.config, subject);
      const score = runScorer(job);
      if (score !== null) return { score };
      throw new ExternalFailure('ext_not_applicable', `The scorer ${job.scorer} cannot take this answer`);
    }),
};

function jobOf(config: ScorerConfig, subject: Subject): ScorerJob {
  const expected = expectedValueOf(config, subject);
  checkLength('answer', subject.output);
  checkLength('expected value', expected);
  const { scorer } = config;
  return {
    scorer,
    output: readAs(scorer, 'answer', subject.output),
    expected: scorer === 'ValidJSON' ? undefined : readAs(scorer, 'expected value', expected),
    allowExtraEntities: config.allowExtraEntities ?? false,
  };
}

function checkLength(what: string, value: unknown): void {
  let length: number;
  try {
    length = countCharacters(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  } catch {
    length = Number.POSITIVE_INFINITY;
  }
  if (length <= MAX_CHARACTERS) return;
  throw new ExternalFailure('input_too_large', `The ${what} has more than ${MAX_CHARACTERS} characters`);
}

/** Counts code points; of a text that is too long in any case, returns a lower bound that is too large as well. */
function countCharacters(text: string): number {
  return text.length > 2 * MAX_CHARACTERS ? text.length / 2 : [...text].length;
}

/** Reads a value as the scorer compares it: a text is parsed where the scorer compares numbers or lists. */
function readAs(scorer: ScorerConfig['scorer'], what: string, value: unknown): unknown {
  switch (scorer) {
    case 'Levenshtein':
      return typeof value === 'string' ? value : JSON.stringify(value);
    case 'NumericDiff':
      return readNumber(what, value);
    case 'ListContains':
      return readList(what, value);
    case 'JSONDiff':
      checkLevels(what, typeof value === 'string' ? parseJson(value) : value);
      // Similarities are computed with doubles.
      return typeof value === 'object' ? JSON.parse(JSON.stringify(value)) : value;
    default:
      return value;
  }
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

function readNumber(what: string, value: unknown): number {
  const text = typeof value === 'string' ? value.trim() : '';
  const number =
    typeof value === 'number'
      ? value
      : isRawNumber(value)
        ? Number(value.rawJSON)
        : DECIMAL.test(text)
          ? Number(text)
          : Number.NaN;
  if (Number.isFinite(number)) return number;
  throw new ExternalFailure('ext_not_applicable', `The ${what} is not a number`);
}

function readList(what: string, value: unknown): string[] {
  const list = typeof value === 'string' ? parseJson(value) : value;
  if (!Array.isArray(list)) {
    throw new ExternalFailure('ext_not_applicable', `The ${what} is not a JSON array`);
  }
  if (list.length > MAX_LIST_ITEMS) {
    throw new ExternalFailure('input_too_large', `The ${what} has more than ${MAX_LIST_ITEMS} items`);
  }
  return list.map((item: unknown) => (typeof item === 'string' ? item : JSON.stringify(item)));
}

function checkLevels(what: string, value: unknown): void {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_LEVELS) {
      throw new ExternalFailure(
        'input_too_large',
        `The ${what} is nested more than ${MAX_LEVELS} levels deep`,
      );
    }
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
