/** Members of objects that grow. All in place: copies would make a long stream quadratic. */
import { isObject, type JsonObject } from '../../json/mod.ts';

/** A copy without a prototype, so that a member called `__proto__` is one like any other. */
export function bare(value: JsonObject): JsonObject {
  return Object.assign(Object.create(null) as JsonObject, value);
}

/**
 * Whether a value tells something: null never does, nor an empty text where a member is there already. Azure's and
 * Mistral's later chunks have empty texts for what earlier ones told.
 */
export function isKnown(before: unknown, value: unknown): boolean {
  return value !== null && (value !== '' || before === undefined);
}

/** Sets the members that `from` knows. */
export function setKnown(target: JsonObject, from: JsonObject, except: readonly string[] = []): void {
  for (const [name, value] of Object.entries(from)) {
    if (!except.includes(name) && isKnown(target[name], value)) target[name] = value;
  }
}

/** Appends to a text; what is no text leaves it as it is. */
export function appendText(target: JsonObject, name: string, piece: unknown): void {
  if (typeof piece !== 'string') return;
  const before = target[name];
  target[name] = typeof before === 'string' ? before + piece : piece;
}

/** Appends to a list, item by item: the arguments of one `push` could be too many. */
export function appendItems(target: JsonObject, name: string, items: readonly unknown[]): void {
  const before = target[name];
  if (!Array.isArray(before)) target[name] = items;
  else for (const item of items) before.push(item);
}

/** Merges pieces of an object: texts of the named members grow, the others are set when known. */
export function mergePieces(before: unknown, piece: JsonObject, growing: readonly string[]): JsonObject {
  const merged = isObject(before) ? before : bare({});
  for (const [name, value] of Object.entries(piece)) {
    if (typeof value === 'string' && growing.includes(name)) appendText(merged, name, value);
    else if (isKnown(merged[name], value)) merged[name] = value;
  }
  return merged;
}
