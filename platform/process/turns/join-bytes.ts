import { inTurns } from './turns.ts';

/** Up to here a copy is a matter of a fraction of a millisecond. */
const JOINED_AT_ONCE_BYTES = 1024 * 1024;
/** Copying into fresh memory takes some 0.7 ms for each megabyte. */
const SLICE_BYTES = 1024 * 1024;

/** One buffer of several, without a copy when there is only one; many megabytes are copied in turns. */
export async function joinBytesInTurns(pieces: readonly Buffer[]): Promise<Buffer> {
  if (pieces.length === 1) return pieces[0]!;
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (bytes <= JOINED_AT_ONCE_BYTES) return Buffer.concat(pieces, bytes);
  const joined = Buffer.allocUnsafe(bytes);
  await copyInTurns(pieces, joined);
  return joined;
}

/** A copy that threads can be given without another. */
export async function sharedInTurns(bytes: Buffer): Promise<Uint8Array> {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  await copyInTurns([bytes], shared);
  return shared;
}

async function copyInTurns(pieces: readonly Buffer[], joined: Uint8Array): Promise<void> {
  let [index, from, at] = [0, 0, 0];
  await inTurns(() => {
    const limit = Math.min(joined.length, at + SLICE_BYTES);
    while (at < limit) {
      const piece = pieces[index]!;
      const copied = piece.copy(joined, at, from, Math.min(piece.length, from + limit - at));
      at += copied;
      from += copied;
      if (from < piece.length) continue;
      index += 1;
      from = 0;
    }
    return at === joined.length;
  });
}
