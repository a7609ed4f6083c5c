/** Reads single values of templates, whose rules a schema cannot express. */
import { quoteValue } from './check.ts';
import { invalidField } from './invalid.ts';

/** @throws AssayError invalid_body */
export function readFinite(value: unknown, path: string): number {
  if (value === undefined || value === null) throw invalidField(path, 'is required');
  if (typeof value !== 'number') throw invalidField(path, `must be a number, but is ${quoteValue(value)}`);
  // JSON has no infinity, but JSON.parse reads 1e999 as one.
  if (!Number.isFinite(value)) throw invalidField(path, 'must be a finite number, but is larger than any');
  return value + 0;
}

/** @throws AssayError invalid_body */
export function requireNotBlank(text: string, path: string): string {
  if (text.trim() === '') throw invalidField(path, 'must not be empty');
  return text;
}
