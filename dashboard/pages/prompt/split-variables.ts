/** Finds the variables in a prompt's text. The API has read them already: here they are only marked. Pure. */

const PLACEHOLDER =
  /\{\{\s{0,20}(?:hc\s{0,20}:\s{0,20})?([\p{L}\p{N}_][\p{L}\p{N}\p{M}_.-]{0,127})\s{0,20}(?::\s{0,20}\w{1,40}\s{0,20})?\}\}/gu;

export type TextPiece = { text: string; isVariable: boolean };

/**
 * Splits a text.
 * @param names of the version's variables: other texts in braces are none
 */
export function splitVariables(text: string, names: ReadonlySet<string>): TextPiece[] {
  const pieces: TextPiece[] = [];
  let at = 0;
  for (const { 0: whole, 1: name = '', index } of text.matchAll(PLACEHOLDER)) {
    if (!names.has(name)) continue;
    if (index > at) pieces.push({ text: text.slice(at, index), isVariable: false });
    pieces.push({ text: whole, isVariable: true });
    at = index + whole.length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), isVariable: false });
  return pieces;
}
