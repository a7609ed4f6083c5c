/** A verdict in the closing words of prose: a last line, or of choices a last sentence, that is the score and nothing else. */

import { isProblem, type Problem, readScore, type Scored } from './read-score.ts';
import type { Scale } from './scale.ts';

export type ClosingVerdict = Scored & {
  /** What stands before it; null: nothing. */
  reasoning: string | null;
};

/** Reads the last line: a verdict, or a number outside of the range; null when it is neither. */
export function readLastLine(text: string, scale: Scale): ClosingVerdict | Problem | null {
  const start = text.lastIndexOf('\n') + 1;
  const scored = readScore(bare(text.slice(start), scale), scale);
  if (isProblem(scored)) return scored.code === 'judge_out_of_range' ? scored : null;
  return { ...scored, reasoning: text.slice(0, start).trim() || null };
}

/**
 * Reads the last sentence, which must equal one label. Null when it equals none, when an earlier sentence equals another
 * one (the text may be listing them), and of other scales: the digits of a sentence may be a cut decimal, and "No." may
 * answer a question of the text's own.
 */
export function readLastSentence(text: string, scale: Scale): ClosingVerdict | null {
  // Braces: a verdict in JSON that was cut short, whose reasoning is no sentence of the judge's answer.
  if (scale.kind !== 'choice' || text.includes('{')) return null;
  const sentences = sentencesOf(text);
  const last = sentences.at(-1) ?? '';
  const scored = readScore(bare(last, scale), scale);
  if (isProblem(scored)) return null;
  const saysAnother = sentences.some((sentence) => {
    const other = readScore(bare(sentence, scale), scale);
    return !isProblem(other) && other.label !== scored.label;
  });
  if (saysAnother) return null;
  return { ...scored, reasoning: text.slice(0, text.lastIndexOf(last)).trim() || null };
}

/** White space behind a stop and what may close a quotation or brackets. */
const BOUNDARY = /(?<=[.!?…。！？][*_"'”’)\]]{0,3})\s+/u;
/** A stop that ends no sentence: behind a number, one letter, letters with stops between them, an abbreviation. */
const NO_END =
  /(?:^|[\s("'“‘])(?:\d+|\p{L}|\p{L}+(?:\.\p{L}+)+|vs|cf|viz|resp|incl|approx|etc|ca|al|no|nr|dr|mrs?|ms|prof|bzw|usw)\.$/iu;

function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  for (const line of text.split('\n')) {
    let isOpen = false;
    for (const piece of line.split(BOUNDARY)) {
      if (piece.trim() === '') continue;
      if (isOpen) sentences.push(`${sentences.pop()} ${piece}`);
      else sentences.push(piece);
      isOpen = NO_END.test(piece.slice(-LONGEST_ABBREVIATION));
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

/** Strips the marks around a text, and the stop behind words; a stop behind a number may be what is left of a decimal. */
function bare(line: string, scale: Scale): string {
  let text = line.trim();
  for (;;) {
    const wrapper = WRAPPERS.find(
      ([open, close]) =>
        text.length > open.length + close.length && text.startsWith(open) && text.endsWith(close),
    );
    if (wrapper !== undefined) text = text.slice(wrapper[0].length, -wrapper[1].length).trim();
    else if (scale.kind !== 'range' && /[\p{L}\p{N}]\.$/u.test(text) && isProblem(readScore(text, scale))) {
      text = text.slice(0, -1);
    } else return text;
  }
}
