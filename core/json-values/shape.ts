/** A JSON object with any members. */
export type JsonObject = { [name: string]: unknown };

/** Returns whether a parsed JSON value is an object (and not null or an array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value when it is a string, else null. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
