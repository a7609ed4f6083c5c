/**
 * The key of an evaluator's scores: its name in lower case, each run of anything but letters and digits as one `_`. The
 * empty text when the name has neither.
 */
export function scoreKeyOf(name: string): string {
  const key = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_');
  return /[^_]/.test(key) ? key : '';
}
