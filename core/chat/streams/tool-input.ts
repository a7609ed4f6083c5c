import { parseExactObject } from '../../json-values/mod.ts';

/**
 * Parses the joined pieces of a tool call's input; numbers stay as they were written. Text that is no JSON object, because
 * the stream broke off or the model made a mistake, is returned unchanged.
 */
export function readToolInput(text: string): unknown {
  try {
    return parseExactObject(text) ?? text;
  } catch {
    // Also thrown for nesting deeper than a reviver can follow.
    return text;
  }
}
