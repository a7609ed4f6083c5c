/**
 * Returns the key of an evaluator's scores: its name in lower case, with each run of characters other than letters and
 * digits as one `_`; the empty text when the name has no letter and no digit.
 */
export function scoreKeyOf(name: string): string {
  const key = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_');
  return /[^_]/.test(key) ? key : '';
}
