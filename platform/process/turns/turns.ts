/**
 * Long work on the event loop, done in slices: all such work together gets some milliseconds of each turn of the loop, so
 * that what else the process does waits no longer than that, however much of it is under way.
 */

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
