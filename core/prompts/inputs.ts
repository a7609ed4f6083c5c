/** The inputs of a prompt, as calls send them and records keep them. */
import { quoteValue } from '../contracts/check.ts';
import { invalidField } from '../contracts/invalid.ts';
import {
  isObject,
  isRawNumber,
  JsonFault,
  type JsonObject,
  parseExactJson,
  scanMembers,
} from '../json/mod.ts';

/** Inputs are in the record whole, in a column that filters read. */
const MAX_INPUT_BYTES = 64 * 1024;
/** Levels of objects and arrays: what records hold, and well within the stack. */
const MAX_INPUT_DEPTH = 512;

/** Inputs, and the JSON text they were sent as. */
export type Inputs = { readonly values: JsonObject; readonly text: string };

export const NO_INPUTS: Inputs = { values: {}, text: '{}' };

/**
 * Reads inputs: an object, or null for none.
 * @param json JSON in UTF-8
 * @returns numbers that no double holds are those of `parseExactJson`
 * @throws AssayError invalid_body
 */
export function readInputs(json: Buffer): Inputs {
  if (json.length > MAX_INPUT_BYTES)
    throw invalidField(
      'inputs',
      `may be at most ${MAX_INPUT_BYTES} bytes long as JSON, but has ${json.length}`,
    );
  const text = json.toString('utf8');
  try {
    const value = parseExactJson(text);
    if (value === null) return NO_INPUTS;
    if (!isObject(value) || isRawNumber(value))
      throw invalidField('inputs', `must be an object, but is ${quoteValue(value)}`);
    if (json.length > MAX_INPUT_DEPTH)
      scanMembers(json, { names: [], maxDepth: MAX_INPUT_DEPTH, isValid: true });
    return { values: value, text };
  } catch (error) {
    if (!(error instanceof JsonFault || error instanceof RangeError)) throw error;
    throw invalidField('inputs', `may be nested at most ${MAX_INPUT_DEPTH} levels deep`);
  }
}
