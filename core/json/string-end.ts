/**
 * Finds the ends of JSON strings: the one place that knows which quotes are escaped. A quote ends the string when the run
 * of backslashes before it has an even length; the opening quote ends that run at the latest. So strings are skipped from
 * quote to quote, by native searches.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Up to this many bytes, a loop is faster than a native search. Most names are shorter. */
const FEW_BYTES = 32;

/** Returns the position after the string whose opening quote is at `from`; -1 when the text ends first. */
export function textStringEnd(text: string, from: number): number {
  let quote = text.indexOf('"', from + 1);
  while (quote !== -1) {
    let first = quote;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((quote - first) % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return -1;
}

/**
 * Returns the position after the string whose opening quote is at `from`; -1 when the bytes end first.
 * @param fewBytes bytes that are read in a loop first; more suit strings that are known to be short
 */
export function byteStringEnd(bytes: Buffer, from: number, fewBytes: number = FEW_BYTES): number {
  const { length } = bytes;
  let at = from + 1;
  while (at < length) {
    const near = Math.min(length, at + fewBytes);
    for (; at < near; at += 1) {
      if (bytes[at] === BACKSLASH) at += 1;
      else if (bytes[at] === QUOTE) return at + 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return -1;
    let first = quote;
    // The run cannot begin before `at`, where no escape is open.
    while (first > at && bytes[first - 1] === BACKSLASH) first -= 1;
    at = quote + 1;
    if ((quote - first) % 2 === 0) return at;
  }
  return -1;
}
