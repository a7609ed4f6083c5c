/** What a mark says when somebody points at it. Fetched with the first mark that a page shows: nearly no text has one. */
import { codeName, type Mark, readRun } from './split-hostile.ts';

const NAMES: Readonly<Record<number, string>> = {
  0: 'null',
  8: 'backspace',
  13: 'carriage return',
  27: 'escape',
  127: 'delete',
  173: 'soft hyphen',
  847: 'combining grapheme joiner',
  1564: 'Arabic letter mark',
  4447: 'Hangul filler',
  4448: 'Hangul filler',
  6158: 'Mongolian vowel separator',
  8203: 'zero width space',
  8204: 'zero width non-joiner',
  8205: 'zero width joiner',
  8206: 'left-to-right mark',
  8207: 'right-to-left mark',
  8232: 'line separator',
  8233: 'paragraph separator',
  8234: 'left-to-right embedding',
  8235: 'right-to-left embedding',
  8236: 'pop directional formatting',
  8237: 'left-to-right override',
  8238: 'right-to-left override',
  8288: 'word joiner',
  8294: 'left-to-right isolate',
  8295: 'right-to-left isolate',
  8296: 'first strong isolate',
  8297: 'pop directional isolate',
  12644: 'Hangul filler',
  65279: 'byte order mark',
  65440: 'Hangul filler',
};

function kindOf(code: number): string {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 'control character';
  if (code >= 0xd800 && code < 0xe000) return 'half of a surrogate pair';
  if (code >= 0xe0000 && code < 0xe0080) return 'tag character';
  if ((code >= 0xfe00 && code < 0xfe10) || (code >= 0xe0100 && code < 0xe01f0)) return 'variation selector';
  if ((code & 0xfffe) === 0xfffe || (code >= 0xfdd0 && code < 0xfdf0)) return 'noncharacter';
  return /\p{M}/u.test(String.fromCodePoint(code)) ? 'combining mark' : 'invisible character';
}

/** @example titleOf({ hidden: '\u202e\u202e' }) // 'U+202E right-to-left override, 2 times' */
export function titleOf(mark: Mark): string {
  const { code, count, isMixed } = readRun(mark);
  const title = `${codeName(code)} ${NAMES[code] ?? kindOf(code)}`;
  if (isMixed) return `${title}, and ${count - 1} more invisible characters`;
  return count === 1 ? title : `${title}, ${count} times`;
}
