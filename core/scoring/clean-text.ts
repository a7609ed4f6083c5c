/** Makes the texts of a score, its reasoning and its label, fit to be stored and shown. */
import { storableText } from '../contracts/storable-text.ts';
import { cutToBytes } from '../text/mod.ts';
import { MAX_REASONING_BYTES } from './outcome.ts';

const CUT_MARK = '…';

/**
 * Returns the text as Postgres can store it: without control characters other than line breaks and tabs, without the
 * marks that reverse the direction of neighbouring text, at most 4 KB of UTF-8. Null when nothing is left.
 */
export function cleanText(text: string | null): string | null {
  if (text === null) return null;
  const plain = storableText(text.slice(0, 2 * MAX_REASONING_BYTES))
    .replaceAll(/\r\n?/g, '\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole point is to find them
    .replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .trim();
  return plain === '' ? null : cutToBytes(plain, MAX_REASONING_BYTES, CUT_MARK);
}
