/** One event of a stream, read from its frame. */

/** The data of an event, its lines joined; null for comments and events without data. */
export function frameData(frame: string): string | null {
  let data: string | null = null;
  for (let start = 0; start < frame.length; ) {
    const newline = frame.indexOf('\n', start);
    const next = newline === -1 ? frame.length : newline + 1;
    if (frame.startsWith('data:', start)) {
      const value = frame.slice(frame[start + 5] === ' ' ? start + 6 : start + 5, next).trimEnd();
      data = data === null ? value : `${data}\n${value}`;
    }
    start = next;
  }
  return data;
}
