/** Merging of object members. Everything is changed in place: copies would make a long stream quadratic. */
import { isObject, type JsonObject } from '../../json-values/mod.ts';

/** Returns a copy without a prototype, so that a member called `__proto__` is one like any other. */
export function bare(value: JsonObject): JsonObject {
  return Object.assign(Object.create(null) as JsonObject, value);
}

/**
 * Returns whether a value carries information: null never does, nor does an empty text for a member that is set already.
 * Later chunks of Azure and Mistral repeat members of earlier ones as empty texts.
 */
export function isKnown(before: unknown, value: unknown): boolean {
  return value !== null && (value !== '' || before === undefined);
}

/** Sets the members for which `from` carries information. */
export function setKnown(target: JsonObject, from: JsonObject, except: readonly string[] = []): void {
  for (const [name, value] of Object.entries(from)) {
    if (!except.includes(name) && isKnown(target[name], value)) target[name] = value;
  }
}

/** Appends to a text; a piece that is no text is ignored. */
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

/** Merges pieces of an object: texts of the members in `growing` are appended to, other members are set. */
export function mergePieces(before: unknown, piece: JsonObject, growing: readonly string[]): JsonObject {
  const merged = isObject(before) ? before : bare({});
  for (const [name, value] of Object.entries(piece)) {
    if (typeof value === 'string' && growing.includes(name)) appendText(merged, name, value);
    else if (isKnown(merged[name], value)) merged[name] = value;
  }
  return merged;
}
