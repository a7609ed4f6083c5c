/**
 * Characters of a stranger's text that would be invisible, reorder what stands around them, or break a line in secret. They are
 * split off, so that the page can show a mark in their place.
 *
 * Left as they are, because text cannot be read without them: joiners and variation selectors inside emoji sequences; a joiner
 * between letters of a script that is written with joiners; a variation selector after a letter of a script that has variants;
 * up to eight combining marks in a row.
 */

/** Hostile characters that follow one another: one character, perhaps repeated, or a whole run of different ones. */
export type Mark = { hidden: string };
export type Piece = string | Mark;

/** More marks in one text are written as text: an element for each of a million would hold up the page. */
const MOST_MARKS = 500;
/** A run of more different characters is one mark. */
const MOST_IN_RUN = 16;
/** More combining marks than any language puts on a letter: they would be drawn over the lines above and below. */
const MOST_COMBINING = 8;

const EMOJI_UNIT = String.raw`\p{Extended_Pictographic}[\uFE0E\uFE0F]?\p{Emoji_Modifier}?`;
const JOINED_SCRIPT = String.raw`[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}]`;
/** Signs that Unicode calls format characters and that are seen nevertheless. */
const SEEN = String.raw`[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]`;

const KEPT = [
  // The flags of England, Scotland and Wales.
  String.raw`\u{1F3F4}[\u{E0020}-\u{E007E}]{1,6}\u{E007F}`,
  String.raw`[#*0-9]\uFE0F\u20E3`,
  String.raw`${EMOJI_UNIT}(?:\u200D${EMOJI_UNIT})*`,
  String.raw`(?<=${JOINED_SCRIPT})[\u200C\u200D](?=${JOINED_SCRIPT})`,
  String.raw`(?<=[\p{Script=Han}])[\uFE00-\uFE02\u{E0100}-\u{E01EF}]`,
  String.raw`(?<=\p{Sm})\uFE00`,
  String.raw`(?<=\p{Script=Mongolian})[\u180B-\u180D\u180F]`,
  SEEN,
].join('|');
/** A carriage return alone is drawn as nothing. */
const HOSTILE = String.raw`(?:[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u2028\u2029\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]|\r(?!\n))+`;
const PATTERN = new RegExp(
  `(?<kept>${KEPT})|(?<=\\p{Mn}{${MOST_COMBINING}})(?<combining>\\p{Mn}+)|(?<hostile>${HOSTILE})`,
  'gu',
);
/** Nearly every text is plain, and this is quicker. */
const MAY_NEED_CARE =
  /[^\t\n\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u058f\u3001-\u3029\u3030-\u3098\u309b-\u3163\u3165-\ua4cf\uac00-\ud7a3]/;

/** Splits a text. The pieces, put together again, are the text, unless it has more than 500 marks. */
export function splitHostile(text: string): Piece[] {
  if (!MAY_NEED_CARE.test(text)) return text === '' ? [] : [text];
  const pieces: Piece[] = [];
  let from = 0;
  let marks = 0;
  for (const { 0: hidden, index, groups } of text.matchAll(PATTERN)) {
    if (groups!.kept !== undefined) continue;
    if (marks >= MOST_MARKS) return [...pieces, writeMarks(text.slice(from))];
    if (index > from) pieces.push(text.slice(from, index));
    const found = marksOf(hidden);
    pieces.push(...found);
    marks += found.length;
    from = index + hidden.length;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

/** Returns a mark for each character of a run, equal neighbours together. */
function marksOf(run: string): Mark[] {
  const groups = run.match(/(.)\1*/gsu)!;
  return groups.length > MOST_IN_RUN ? [{ hidden: run }] : groups.map((hidden) => ({ hidden }));
}

/**
 * Returns a text whose hostile characters are written out, for places that hold no elements, such as a title.
 * @example writeMarks('a\u202eb') // 'a‹202E›b'
 */
export function writeMarks(text: string): string {
  if (!MAY_NEED_CARE.test(text)) return text;
  const written = new Map<string, string>();
  return text.replace(PATTERN, (match: string, kept: string | undefined) => {
    if (kept !== undefined) return kept;
    const known = written.get(match);
    if (known !== undefined) return known;
    const marks = marksOf(match).map((mark) => `‹${labelOf(mark)}›`);
    written.set(match, marks.join(''));
    return written.get(match)!;
  });
}

/** @example codeName(0x202e) // 'U+202E' */
export function codeName(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

type Run = { code: number; count: number; isMixed: boolean };

export function readRun({ hidden }: Mark): Run {
  const code = hidden.codePointAt(0)!;
  const character = String.fromCodePoint(code);
  const isMixed = hidden !== character.repeat(hidden.length / character.length);
  return { code, count: isMixed ? [...hidden].length : hidden.length / character.length, isMixed };
}

/** @example labelOf({ hidden: '\0' }) // '␀' */
export function labelOf(mark: Mark): string {
  const { code, count, isMixed } = readRun(mark);
  if (isMixed) return `${count} invisible characters`;
  const picture = code < 0x20 ? String.fromCodePoint(0x2400 + code) : null;
  const label = picture ?? (code === 0x7f ? '␡' : codeName(code).slice(2));
  return count === 1 ? label : `${label}×${count}`;
}
