import { parseExactObject } from '../../json/mod.ts';

/**
 * The input of a tool call, from its pieces put together, with its numbers as they were written. What is no JSON object,
 * because the stream broke off or the model made a mistake, is kept as the text that it is.
 */
export function readToolInput(text: string): unknown {
  try {
    return parseExactObject(text) ?? text;
  } catch {
    // Also what is nested deeper than a reviver can follow.
    return text;
  }
}
