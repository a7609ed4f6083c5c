/**
 * Where a string of JSON ends: the one place that knows which quotes are escaped. A quote ends the string when the run of
 * backslashes before it has an even length; the run is never longer than the string, as the opening quote ends it. So
 * strings are passed over from quote to quote, by searches outside of JavaScript.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** So many bytes are looked at sooner one by one than by a call out of JavaScript. Most names are shorter. */
const FEW_BYTES = 32;

/** Returns the place behind the string whose opening quote is at `from`; -1 when the text ends first. */
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
 * Returns the place behind the string whose opening quote is at `from`; -1 when the bytes end first.
 * @param fewBytes so many are looked at one by one: more, where the string is known to be short
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
    // Not before `at`, where no escape is open.
    while (first > at && bytes[first - 1] === BACKSLASH) first -= 1;
    at = quote + 1;
    if ((quote - first) % 2 === 0) return at;
  }
  return -1;
}
