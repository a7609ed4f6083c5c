/** Reads fields of a caller's body: each returns the value, or throws an error that names the field. */
import { AssayError } from '#core/contracts/errors.ts';
import { isObject, type JsonObject } from '#core/json/mod.ts';

/** Refuses a field. @throws AssayError invalid_body: the field and the reason */
export function refuse(field: string, why: string): never {
  throw new AssayError('invalid_body', `${field} ${why}`);
}

/** Returns whether a field is missing, or null, by which clients mean the same. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** @throws AssayError invalid_body */
export function objectAt(value: unknown, field: string): JsonObject {
  return isObject(value) ? value : refuse(field, 'must be an object');
}

/** @throws AssayError invalid_body */
export function arrayAt(value: unknown, field: string): unknown[] {
  return Array.isArray(value) ? value : refuse(field, 'must be an array');
}

/** @throws AssayError invalid_body */
export function textAt(value: unknown, field: string): string {
  return typeof value === 'string' ? value : refuse(field, 'must be a string');
}

/** @throws AssayError invalid_body */
export function nameAt(value: unknown, field: string): string {
  return typeof value === 'string' && value !== ''
    ? value
    : refuse(field, 'must be a string that is not empty');
}

/** Null when absent. @throws AssayError invalid_body */
export function optionalText(value: unknown, field: string): string | null {
  return isAbsent(value) ? null : textAt(value, field);
}

/** Null when absent. @throws AssayError invalid_body */
export function optionalObject(value: unknown, field: string): JsonObject | null {
  return isAbsent(value) ? null : objectAt(value, field);
}

/** False when absent. @throws AssayError invalid_body */
export function flagAt(value: unknown, field: string): boolean {
  if (isAbsent(value)) return false;
  return typeof value === 'boolean' ? value : refuse(field, 'must be true or false');
}

/** Null when absent. @throws AssayError invalid_body */
export function optionalNumber(value: unknown, field: string, min: number, max: number): number | null {
  if (isAbsent(value)) return null;
  if (typeof value === 'number' && value >= min && value <= max) return value;
  return refuse(field, `must be a number from ${min} to ${max}`);
}

/** Null when absent. @throws AssayError invalid_body */
export function optionalCount(value: unknown, field: string): number | null {
  if (isAbsent(value)) return null;
  if (Number.isSafeInteger(value) && (value as number) > 0) return value as number;
  return refuse(field, 'must be a whole number above 0');
}

/** Checks the members' names. @throws AssayError invalid_body when a member is neither in `known` nor null */
export function onlyFields(value: JsonObject, known: ReadonlySet<string>, field: string, why: string): void {
  for (const name in value) {
    if (!known.has(name) && !isAbsent(value[name])) refuse(`${field}.${name}`, why);
  }
}
