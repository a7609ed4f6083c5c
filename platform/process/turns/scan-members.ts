import { JsonScanner, type ScannedMembers, type ScanOptions } from '#core/json/mod.ts';
import { inTurns } from './turns.ts';

/** So much takes a millisecond or two when it is all brackets and commas; of text, a tenth of that. */
const SLICE_BYTES = 64 * 1024;

/**
 * As `scanMembers`, for a text of any length.
 * @throws JsonFault
 */
export async function scanMembersInTurns(bytes: Buffer, options: ScanOptions): Promise<ScannedMembers> {
  const scanner = new JsonScanner(bytes, options);
  await inTurns(() => scanner.read(SLICE_BYTES));
  return scanner.members;
}
