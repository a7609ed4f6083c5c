/**
 * Long work on the event loop, done in slices. All such work together gets some milliseconds of each turn of the loop, so
 * that other work of the process waits no longer than that, however much is under way.
 */
import { JsonScanner, type ScannedMembers, type ScanOptions } from '#core/json/mod.ts';

/** Does about a millisecond of work. Returns whether that was the last. May throw. */
export type Slice = () => boolean;

type Work = { slice: Slice; resolve(): void; reject(error: unknown): void };

/** Time in each turn. Shorter, and a large body takes many turns of a busy loop; longer, and every other call is delayed. */
const MS_OF_A_TURN = 4;

const waiting: Work[] = [];
let isScheduled = false;

/** Runs the slices of one piece of work, in turn with those of others. Rejects with the error of a slice. */
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

/** Up to this size a copy takes a fraction of a millisecond. */
const JOINED_AT_ONCE_BYTES = 1024 * 1024;
/** Copying into fresh memory takes some 0.7 ms for each megabyte. */
const COPY_SLICE_BYTES = 1024 * 1024;

/** Joins buffers; many megabytes in turns. A single buffer is returned without a copy. */
export async function joinBytesInTurns(pieces: readonly Buffer[]): Promise<Buffer> {
  if (pieces.length === 1) return pieces[0]!;
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (bytes <= JOINED_AT_ONCE_BYTES) return Buffer.concat(pieces, bytes);
  const joined = Buffer.allocUnsafe(bytes);
  await copyInTurns(pieces, joined);
  return joined;
}

/** Copies bytes, in turns, into memory that threads can share. */
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

/** Bytes of one slice: a millisecond or two for brackets and commas alone, a tenth of that for text. */
const SCAN_SLICE_BYTES = 64 * 1024;

/**
 * Scans the members of a JSON text of any length, in turns.
 * @throws JsonFault
 */
export async function scanMembersInTurns(bytes: Buffer, options: ScanOptions): Promise<ScannedMembers> {
  const scanner = new JsonScanner(bytes, options);
  await inTurns(() => scanner.read(SCAN_SLICE_BYTES));
  return scanner.members;
}
