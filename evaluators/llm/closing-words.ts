/**
 * Verdicts at the end of prose: a last line, or for choices a last sentence, that is the score and nothing else; and words
 * behind a verdict that may take it back.
 */

import { type Choice, foldLabel } from '#core/contracts/categories.ts';
import { isScoreProblem, type ParsedScore, readScore, type ScoreProblem } from './read-score.ts';
import type { Scale } from './scale.ts';

/** A score from the end of a text. */
export type ClosingVerdict = ParsedScore & {
  /** The text before the score; null when it is empty. */
  reasoning: string | null;
};

/** Reads the last line: a verdict, or a number outside the range as a problem; null for any other line. */
export function readLastLine(text: string, scale: Scale): ClosingVerdict | ScoreProblem | null {
  const start = text.lastIndexOf('\n') + 1;
  const scored = readScore(stripMarks(text.slice(start), scale), scale);
  if (isScoreProblem(scored)) return scored.code === 'judge_out_of_range' ? scored : null;
  return { ...scored, reasoning: text.slice(0, start).trim() || null };
}

/**
 * Reads the last sentence, which must equal one label. Returns null when it equals none, when an earlier sentence equals
 * another label (the text may list them), and for other scales: the digits of a sentence may be a cut decimal, and "No."
 * may answer a question that the text itself asks.
 */
export function readLastSentence(text: string, scale: Scale): ClosingVerdict | null {
  // A brace begins a JSON verdict that was cut short; sentences of its reasoning are not the judge's answer.
  if (scale.kind !== 'choice' || text.includes('{')) return null;
  const sentences = sentencesOf(text);
  const last = sentences.at(-1) ?? '';
  const scored = readScore(stripMarks(last, scale), scale);
  if (isScoreProblem(scored)) return null;
  const saysAnother = sentences.some((sentence) => {
    const other = readScore(stripMarks(sentence, scale), scale);
    return !isScoreProblem(other) && other.label !== scored.label;
  });
  if (saysAnother) return null;
  return { ...scored, reasoning: text.slice(0, text.lastIndexOf(last)).trim() || null };
}

const BOOLEAN_WORD = /(?<![\p{L}\p{N}])(?:true|false|yes|no|[01])(?![\p{L}\p{N}])/iu;

/**
 * Returns whether words behind a verdict may hold another one: a digit for a range, a label for choices, a truth value. A
 * judge may quote a verdict that the answer under test orders, and give its own after it.
 */
export function mayHoldVerdict(words: string, scale: Scale): boolean {
  switch (scale.kind) {
    case 'boolean':
      return BOOLEAN_WORD.test(words);
    case 'choice':
      return holdsLabel(words, scale.choices);
    case 'range':
      return /\p{N}/u.test(words);
  }
}

/** Labels of up to so many letters, such as `A` and `bad`, are parts of other words. */
const SHORT_LABEL = 3;

/**
 * Returns whether words hold one of the labels, whatever its case and the marks and spaces in it. A short label must stand
 * alone, and one letter have its own case: `a` is an article.
 */
function holdsLabel(words: string, choices: readonly Choice[]): boolean {
  const [folded, letters] = [foldLabel(words), lettersOf(words)];
  return choices.some(({ description }) => {
    const bare = lettersOf(description);
    if (bare.length > SHORT_LABEL) return letters.includes(bare);
    if (!/^[a-z0-9]+$/.test(bare)) return folded.includes(foldLabel(description));
    const written = description.replaceAll(/[^a-z0-9]/gi, '');
    const alone = `(?<![\\p{L}\\p{N}])${written}(?![\\p{L}\\p{N}])`;
    return new RegExp(alone, written.length === 1 ? 'u' : 'iu').test(words);
  });
}

const lettersOf = (text: string) => foldLabel(text).replaceAll(/[^\p{L}\p{N}]/gu, '');

/** White space after a full stop and the marks that may close a quotation or brackets. */
const BOUNDARY = /(?<=[.!?…。！？][*_"'”’)\]]{0,3})\s+/u;
/** A stop that ends no sentence: after a number, one letter, letters separated by stops, or an abbreviation. */
const NOT_AN_END =
  /(?:^|[\s("'“‘])(?:\d+|\p{L}|\p{L}+(?:\.\p{L}+)+|vs|cf|viz|resp|incl|approx|etc|ca|al|no|nr|dr|mrs?|ms|prof|bzw|usw)\.$/iu;

function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  for (const line of text.split('\n')) {
    let isOpen = false;
    for (const piece of line.split(BOUNDARY)) {
      if (piece.trim() === '') continue;
      if (isOpen) sentences.push(`${sentences.pop()} ${piece}`);
      else sentences.push(piece);
      isOpen = NOT_AN_END.test(piece.slice(-LONGEST_ABBREVIATION));
    }
  }
  return sentences;
}

const LONGEST_ABBREVIATION = 40;

const WRAPPERS: readonly [string, string][] = [
  ['**', '**'],
  ['__', '__'],
  ['*', '*'],
  ['`', '`'],
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['‘', '’'],
];

/** Strips the marks around a text, and the stop after a word; a stop after a number may be part of a cut decimal. */
function stripMarks(line: string, scale: Scale): string {
  let text = line.trim();
  for (;;) {
    const wrapper = WRAPPERS.find(
      ([open, close]) =>
        text.length > open.length + close.length && text.startsWith(open) && text.endsWith(close),
    );
    if (wrapper !== undefined) text = text.slice(wrapper[0].length, -wrapper[1].length).trim();
    else if (
      scale.kind !== 'range' &&
      /[\p{L}\p{N}]\.$/u.test(text) &&
      isScoreProblem(readScore(text, scale))
    ) {
      text = text.slice(0, -1);
    } else return text;
  }
}
