import { isObject } from '../../json/mod.ts';

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

/** From ECMAScript's "JSON.parse source text access", in every runtime that we support and not yet in the types. */
const exact = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): unknown;
};

/** Without this no integer is too long for a double. */
const MAY_BE_INEXACT = /\d{16}/;

/**
 * The input of a tool call, from its pieces put together. An integer that a double cannot hold, such as a 64-bit id, is
 * kept as raw JSON, which `JSON.stringify` copies. What is no JSON object, because the stream broke off or the model
 * made a mistake, is kept as the text that it is.
 */
export function readToolInput(text: string): unknown {
  try {
    const input = MAY_BE_INEXACT.test(text) ? exact.parse(text, keepDigits) : JSON.parse(text);
    return isObject(input) ? input : text;
  } catch {
    // Also what is nested deeper than a reviver can follow.
    return text;
  }
}

/** Numbers beyond double precision altogether stay what `JSON.parse` makes of them: no store could hold them raw. */
function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const isLost =
    typeof value === 'number' &&
    Number.isInteger(value) &&
    !Number.isSafeInteger(value) &&
    source !== undefined &&
    /^-?\d+$/.test(source);
  return isLost ? exact.rawJSON(source) : value;
}
