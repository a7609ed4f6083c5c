import { AssayError } from '#core/contracts/errors.ts';
import { isObject } from '#core/json/mod.ts';

/** Longer than any provider's. The operator's own have the same bound. */
const LONGEST_KEY = 4_096;

/**
 * The key in a body `{"key": "…"}`. It will be a header's value, so it is printable ASCII. No sentence quotes anything of
 * the body, which would be the key in more cases than not.
 * @throws AssayError invalid_body
 */
export function readKey(body: unknown): string {
  if (!isObject(body)) throw invalid('body must be an object');
  const { key, ...others } = body;
  if (key === undefined) throw invalid('key is required');
  if (Object.keys(others).length > 0) throw invalid('body must have no field but key');
  if (typeof key !== 'string') throw invalid('key must be a string');
  if (key === '') throw invalid('key must not be empty');
  if (!/^[\x21-\x7e]+$/.test(key)) throw invalid('key must be printable ASCII without spaces');
  if (key.length > LONGEST_KEY) {
    throw invalid(`key must have at most ${LONGEST_KEY} characters, but has ${key.length}`);
  }
  return key;
}

function invalid(sentence: string): AssayError {
  return new AssayError('invalid_body', sentence);
}
