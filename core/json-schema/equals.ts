import { isObject } from '../json/mod.ts';

/** Returns whether two JSON values are equal; calls `onStep` for each pair that it compares. */
export function equals(one: unknown, other: unknown, onStep: () => void): boolean {
  onStep();
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((value, index) => equals(value, other[index], onStep));
  }
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && equals(one[name], other[name], onStep));
}
