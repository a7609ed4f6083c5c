/**
 * Categories: the labels that an evaluator may give, each with its score. A judge's are its choices, where `description` is the
 * label; the code of a PYTHON evaluator returns a label.
 */
import { type Static, Type } from '@sinclair/typebox';
import { isObject } from '../json/mod.ts';
import { quoteValue } from './check.ts';
import { invalidField } from './invalid.ts';
import { readFinite, requireNotBlank } from './read-value.ts';
import { closed } from './shapes.ts';

const COUNT = { min: 2, max: 50 } as const;
/** Characters of a label: a sentence or two. A judge is sent all labels twice. */
const MAX_LABEL_LENGTH = 500;

/** One label of an evaluator; `description` is the label. */
export type Choice = { score: number; description: string };

const Category = Type.Object(
  { label: Type.String({ minLength: 1, maxLength: MAX_LABEL_LENGTH }), score: Type.Number() },
  closed,
);
export type Category = Static<typeof Category>;

export const Categories = Type.Array(Category, {
  minItems: COUNT.min,
  maxItems: COUNT.max,
  description:
    'The labels that it may give, unique ignoring case and surrounding space, and the score of each',
});

/** Folds a label for comparison: labels are equal ignoring case and surrounding space. */
export function foldLabel(label: string): string {
  return label.trim().normalize('NFC').toLowerCase();
}

/** Returns categories as choices. */
export function choicesOf(categories: readonly Category[]): Choice[] {
  return categories.map(({ label, score }) => ({ score, description: label }));
}

/**
 * Checks the rules that the schema of categories cannot express.
 * @returns the categories as choices
 * @throws AssayError invalid_body
 */
export function checkCategories(categories: readonly Category[], at: string): Choice[] {
  const choices = categories.map(({ label, score }, index) => ({
    score: readFinite(score, `${at}.${index}.score`),
    description: requireNotBlank(label, `${at}.${index}.label`),
  }));
  refuseTwins(choices, at);
  return choices;
}

function refuseTwins(choices: readonly Choice[], at: string): void {
  const seen = new Map<string, number>();
  for (const [index, { description }] of choices.entries()) {
    const twin = seen.get(foldLabel(description));
    if (twin !== undefined) {
      throw invalidField(
        `${at}.${index}`,
        `has the label of ${at}.${twin}, ignoring case and surrounding space: ${quoteValue(description)}`,
      );
    }
    seen.set(foldLabel(description), index);
  }
}

/**
 * Reads the choices of a judge: objects of score and description, or bare texts and numbers.
 * @throws AssayError invalid_body
 */
export function readChoices(value: unknown, at: string): Choice[] {
  if (value === undefined || value === null) throw invalidField(at, 'is required');
  if (!Array.isArray(value)) throw invalidField(at, `must be an array, but is ${quoteValue(value)}`);
  if (value.length < COUNT.min || value.length > COUNT.max) {
    throw invalidField(at, `must hold ${COUNT.min} to ${COUNT.max} choices, but holds ${value.length}`);
  }
  const choices = value.map((given, index) => readChoice(given, index, `${at}.${index}`));
  refuseTwins(choices, at);
  return choices;
}

/** Reads one choice: a bare text is a label whose score is its index, a bare number is its own label. */
function readChoice(given: unknown, index: number, at: string): Choice {
  if (typeof given === 'string') return { score: index, description: readLabel(given, at) };
  if (typeof given === 'number') return { score: readFinite(given, at), description: String(given + 0) };
  if (!isObject(given)) {
    throw invalidField(
      at,
      `must be a string, a number or an object of score and description, but is ${quoteValue(given)}`,
    );
  }
  const unknown = Object.keys(given).find((name) => name !== 'score' && name !== 'description');
  if (unknown !== undefined) throw invalidField(`${at}.${unknown}`, 'is not a known field');
  const { description } = given;
  if (description === undefined || description === null)
    throw invalidField(`${at}.description`, 'is required');
  if (typeof description !== 'string') {
    throw invalidField(`${at}.description`, `must be a string, but is ${quoteValue(description)}`);
  }
  return {
    score: readFinite(given.score, `${at}.score`),
    description: readLabel(description, `${at}.description`),
  };
}

function readLabel(label: string, at: string): string {
  if (label.length > MAX_LABEL_LENGTH) {
    throw invalidField(at, `must have at most ${MAX_LABEL_LENGTH} characters, but has ${label.length}`);
  }
  return requireNotBlank(label, at);
}

/** Differences between labels that are ignored, in steps: none, then case and runs of spaces, then all spaces. */
const LABEL_FOLDS: readonly ((label: string) => string)[] = [
  (label) => label,
  (label) => label.normalize('NFC').replaceAll(/\s+/gu, ' ').trim().toLowerCase(),
  (label) => label.normalize('NFC').replaceAll(/\s+/gu, '').toLowerCase(),
];

/** The choice that a label, a score or both stand for, or why there is none. */
export type Chosen =
  | { choice: Choice }
  | { problem: 'none' }
  | { problem: 'several' }
  | { problem: 'other score'; choice: Choice };

/** Finds the choice of a label and a score, of which one decides the other; null: not given. */
export function chooseBy(label: string | null, score: number | null, choices: readonly Choice[]): Chosen {
  const named = label === null ? null : findChoice(label, choices);
  const found = label === null ? choices.filter((choice) => choice.score === score) : [named];
  const [choice] = found;
  if (choice === undefined || choice === null) return { problem: 'none' };
  if (found.length > 1) return { problem: 'several' };
  return score !== null && score !== choice.score ? { problem: 'other score', choice } : { choice };
}

/** Finds the choice with this label; a choice that differs in case or spaces must be the only such one. */
export function findChoice(label: string, choices: readonly Choice[]): Choice | null {
  for (const fold of LABEL_FOLDS) {
    const folded = fold(label);
    const found = choices.filter(({ description }) => fold(description) === folded);
    if (found.length > 0) return found.length === 1 ? found[0]! : null;
  }
  return null;
}
