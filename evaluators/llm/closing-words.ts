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

/**
 * Returns whether words behind a verdict may hold another one: a number of the range, another label, a truth value. A judge may
 * quote a verdict that the answer under test orders, and give its own after it. A judge that explains its verdict names it again,
 * or numbers its points.
 * @param own the verdict before the words; null: it is not known, and any other counts
 */
export function mayHoldVerdict(words: string, scale: Scale, own: ParsedScore | null = null): boolean {
  switch (scale.kind) {
    case 'boolean':
      return truthValues(words, scale).some((score) => score !== own?.score);
    case 'choice':
      return holdsLabel(
        words,
        scale.choices.filter(({ description }) => description !== own?.label),
      );
    case 'range':
      return scoresIn(words, scale).some((score) => score !== own?.score);
  }
}

const TRUTH = /(?<![\p{L}\p{N}])(true|false)(?![\p{L}\p{N}])/giu;
/** Words that name a verdict, and words that may stand between the name and the verdict. */
const NAMES =
  '(?<!\\p{L})(?:verdict|answer|score|rating|grade|mark|judge?ment|result|conclusion|gives?|gave|rated?|rates|deserves|gets?)';
const LINKS =
  '(?:\\s*(?:for\\s[^\\n.:]{1,60}?(?=\\s(?:is|was)|:)|it|this|that|the answer|should|would|be|is|was|of|as|at|to|an?|only|just|[:=]))*[\\s*_"\'`(]*';
/** `yes` and `no` are words of many sentences: they count alone, and behind a word for a verdict. */
const NAMED_TRUTH = new RegExp(`${NAMES}${LINKS}(yes|no|[01])(?![\\p{L}\\p{N}])`, 'giu');

function truthValues(words: string, scale: Scale): number[] {
  const named = [TRUTH, NAMED_TRUTH].flatMap((pattern) =>
    [...words.matchAll(pattern)].map(([, word]) => word),
  );
  const alone = sentencesOf(words).map((sentence) => stripMarks(sentence, scale));
  return [...named, ...alone].flatMap((word) => {
    const scored = readScore(word, scale);
    return isScoreProblem(scored) ? [] : [scored.score];
  });
}

const NUMBER = '[+-]?\\p{N}+(?:[.,]\\p{N}+)*';
/** Numbers are words of many sentences, too: they count alone, behind a word for a verdict, and as a share of the highest. */
const NAMED_NUMBER = new RegExp(`${NAMES}${LINKS}(${NUMBER})`, 'giu');

/** Returns the numbers that may be scores. NaN: of digits other than ours. */
function scoresIn(words: string, { min, max }: { min: number; max: number }): number[] {
  const highest = String(max).replaceAll(/[.+-]/g, '\\$&');
  const shares = new RegExp(`(${NUMBER})\\s*(?:/|out of|of)\\s*${highest}(?!\\p{N})`, 'giu');
  const found = [NAMED_NUMBER, shares].flatMap((pattern) =>
    [...words.matchAll(pattern)].map(([, number]) => number!),
  );
  const alone = sentencesOf(words).map((sentence) => sentence.replaceAll(/^[\s*_"'`(]+|[\s*_"'`).!]+$/g, ''));
  return [...found, ...alone.filter((sentence) => ONE_NUMBER.test(sentence))]
    .map((number) => Number(number.replace(',', '.')))
    .filter((value) => Number.isNaN(value) || (value >= min && value <= max));
}

const ONE_NUMBER = new RegExp(`^${NUMBER}$`, 'u');

/** Labels of up to so many letters, such as `A` and `bad`, are parts of other words. */
const SHORT_LABEL = 3;
/** The beginning of a label, as in `B) wrong`. */
const LEAD = /^([\p{L}\p{N}]{1,2})[).:]\s/u;

/**
 * Returns whether words hold one of the labels, or what it begins with, whatever its case and the marks and spaces in it. A
 * short label must stand alone, and one letter have its own case: `a` is an article.
 */
function holdsLabel(words: string, choices: readonly Choice[]): boolean {
  const [folded, letters] = [foldLabel(words), lettersOf(words)];
  const labels = choices.flatMap(({ description }) => [
    description,
    ...(LEAD.exec(description)?.slice(1) ?? []),
  ]);
  return labels.some((label) => {
    const bare = lettersOf(label);
    if (bare.length > SHORT_LABEL) return letters.includes(bare);
    if (!/^[a-z0-9]+$/.test(bare)) return folded.includes(foldLabel(label));
    const written = label.replaceAll(/[^a-z0-9]/gi, '');
    // At the beginning of a sentence the article is a capital letter.
    const end = written === 'A' ? '(?![\\p{L}\\p{N}]|\\s+\\p{Ll})' : '(?![\\p{L}\\p{N}])';
    return new RegExp(`(?<![\\p{L}\\p{N}])${written}${end}`, written.length === 1 ? 'u' : 'iu').test(words);
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
