/** Dead letters as the API shows them. */
import {
  type DeadLetterJson,
  type DeadLetterSummary,
  EXCERPT_BYTES,
  type LetterText,
  PART_BYTES,
} from '#core/contracts/dead-letter.ts';
import { type EntryRange, entryRanges } from '#core/contracts/dead-letter-codec.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { type LetterRow, selectBytes } from './store.ts';

/** Bytes of an entry from which a summary is made: a head of usual size and the beginning of the request. */
export const LETTER_BEGINNING_BYTES = 8_192;

/** Returns a letter of a list. */
export function summaryJson(row: LetterRow): DeadLetterSummary {
  const whole = { start: 0, end: row.size };
  const ranges = entryRanges(row.beginning, row.size);
  // After a head that is longer than the beginning, nothing of the request is at hand.
  const range =
    ranges === null || ranges.requestBody.start >= row.beginning.length ? whole : ranges.requestBody;
  const shown = row.beginning.subarray(range.start, Math.min(range.end, range.start + EXCERPT_BYTES));
  return { ...fields(row), excerpt: textOf(shown, range) };
}

/** Returns a letter with the beginnings of its parts. */
export async function wholeJson(tx: TransactionSql, row: LetterRow): Promise<DeadLetterJson> {
  const part = async (range: EntryRange) => textOf(await selectBytes(tx, row.id, range, PART_BYTES), range);
  const ranges = entryRanges(row.beginning, row.size);
  const letter = { ...fields(row), origin: row.origin };
  if (ranges === null) return { ...letter, entry: null, rest: await part({ start: 0, end: row.size }) };
  const [head, request_body, response_body] = await Promise.all([
    part(ranges.head),
    part(ranges.requestBody),
    part(ranges.responseBody),
  ]);
  return { ...letter, entry: { head, request_body, response_body }, rest: null };
}

function fields({ id, created_at, request_id, reason, size }: LetterRow) {
  return { id, created_at: created_at.toISOString(), request_id, reason, bytes: size };
}

/** Returns the beginning of a part as text: base64 when it is no UTF-8. */
function textOf(shown: Buffer, { start, end }: EntryRange): LetterText {
  const size = end - start;
  const isCut = shown.length < size;
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    // As of a stream: a character that the cut divides is left out.
    const text = decoder.decode(shown, { stream: isCut });
    return { bytes: size, encoding: 'utf-8', text, is_cut: isCut };
  } catch {
    return { bytes: size, encoding: 'base64', text: shown.toString('base64'), is_cut: isCut };
  }
}
