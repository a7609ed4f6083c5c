/**
 * Long work on the event loop, done in slices: all such work together gets some milliseconds of each turn of the loop, so
 * that what else the process does waits no longer than that, however much of it is under way.
 */
import { JsonScanner, type ScannedMembers, type ScanOptions } from '#core/json/mod.ts';

/** Does a millisecond of work or so; returns whether it was the last. May throw. */
export type Slice = () => boolean;

type Work = { slice: Slice; resolve(): void; reject(error: unknown): void };

/** Shorter, and a large body takes many turns of a busy loop; longer, and it is felt by every other call. */
const MS_OF_A_TURN = 4;

const waiting: Work[] = [];
let isScheduled = false;

/** Runs the slices of one piece of work, taking turns with all others. Rejects with what a slice throws. */
export function inTurns(slice: Slice): Promise<void> {
  return new Promise((resolve, reject) => {
    waiting.push({ slice, resolve, reject });
    schedule();
  });
}

function schedule(): void {
  if (isScheduled || waiting.length === 0) return;
  isScheduled = true;
  setImmediate(takeTurn);
}

function takeTurn(): void {
  isScheduled = false;
  const beganAt = performance.now();
  do takeSlice(waiting.shift()!);
  while (waiting.length > 0 && performance.now() - beganAt < MS_OF_A_TURN);
  schedule();
}

function takeSlice(work: Work): void {
  try {
    if (work.slice()) work.resolve();
    else waiting.push(work);
  } catch (error) {
    work.reject(error);
  }
}

/** Up to here a copy is a matter of a fraction of a millisecond. */
const JOINED_AT_ONCE_BYTES = 1024 * 1024;
/** Copying into fresh memory takes some 0.7 ms for each megabyte. */
const COPY_SLICE_BYTES = 1024 * 1024;

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
    const limit = Math.min(joined.length, at + COPY_SLICE_BYTES);
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

/** So much takes a millisecond or two when it is all brackets and commas; of text, a tenth of that. */
const SCAN_SLICE_BYTES = 64 * 1024;

/**
 * As `scanMembers`, for a text of any length.
 * @throws JsonFault
 */
export async function scanMembersInTurns(bytes: Buffer, options: ScanOptions): Promise<ScannedMembers> {
  const scanner = new JsonScanner(bytes, options);
  await inTurns(() => scanner.read(SCAN_SLICE_BYTES));
  return scanner.members;
}
