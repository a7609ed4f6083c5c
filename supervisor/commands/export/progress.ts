/** The line that shows how far an export has come, rewritten in place on a terminal and left out elsewhere. */

const EVERY_MS = 200;
const CLEAR_LINE = '\r\u001b[2K';

export type ProgressOptions = {
  /** Records that are there already. */
  begun: number;
  /** Records that there will be; null: unknown. */
  total: number | null;
  stream: { isTTY?: boolean; write(text: string): unknown };
  /** Milliseconds; only differences count. */
  now(): number;
};

/** Returns functions that show the number of records so far, and that take the line away. */
export function startProgress({ begun, total, stream, now }: ProgressOptions): {
  update(done: number): void;
  stop(): void;
} {
  if (stream.isTTY !== true) return { update: () => {}, stop: () => {} };
  const beganAt = now();
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    update(done) {
      if (now() - shownAt < EVERY_MS) return;
      shownAt = now();
      stream.write(`${CLEAR_LINE}${progressLine(done, { begun, total, elapsedMs: shownAt - beganAt })}`);
    },
    stop: () => stream.write(CLEAR_LINE),
  };
}

/** Returns the line for `done` records. */
function progressLine(
  done: number,
  { begun, total, elapsedMs }: { begun: number; total: number | null; elapsedMs: number },
): string {
  const count = (records: number) => records.toLocaleString('en-US');
  const perSecond = elapsedMs > 0 ? ((done - begun) * 1_000) / elapsedMs : 0;
  const rate = `${count(Math.round(perSecond))} records/s`;
  if (total === null) return `${count(done)} records, ${rate}`;
  const share = total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100));
  const left = perSecond > 0 ? `, ${Math.ceil(Math.max(0, total - done) / perSecond)} s left` : '';
  return `${count(done)} of ${count(total)} records (${share} %), ${rate}${left}`;
}
