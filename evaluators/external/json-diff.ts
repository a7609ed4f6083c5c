import { isObject, type JsonObject } from '#core/json/mod.ts';
import { numberSimilarity, textSimilarity } from './similarity.ts';

/**
 * Returns how alike two JSON values are, from 0 to 1: the mean over the members of objects and the items of arrays, by
 * edit distance of texts, by difference of numbers. Texts that hold an object or an array are compared as that; a missing
 * member is null; of two kinds the JSON is compared as text.
 */
export function jsonSimilarity(one: unknown, other: unknown): number {
  const [first, second] = [opened(one), opened(other)];
  if (isObject(first) && isObject(second)) return membersSimilarity(first, second);
  if (Array.isArray(first) && Array.isArray(second)) return itemsSimilarity(first, second);
  if (typeof first === 'string' && typeof second === 'string') return textSimilarity(first, second);
  if (typeof first === 'number' && typeof second === 'number') return numberSimilarity(first, second);
  const absent = [first, second].filter((value) => value === null || value === undefined).length;
  if (absent > 0) return absent === 2 ? 1 : 0;
  return textSimilarity(sortedJson(first), sortedJson(second));
}

/** The object or array that a text holds; anything else as it is. */
function opened(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && parsed !== null ? parsed : value;
  } catch {
    return value;
  }
}

function membersSimilarity(first: JsonObject, second: JsonObject): number {
  const names = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  if (names.length === 0) return 1;
  const member = (object: JsonObject, name: string) => (Object.hasOwn(object, name) ? object[name] : null);
  return mean(
    names.map((name) => jsonSimilarity(member(first, name), member(second, name))),
    names.length,
  );
}

function itemsSimilarity(first: readonly unknown[], second: readonly unknown[]): number {
  const longest = Math.max(first.length, second.length);
  if (longest === 0) return 1;
  const paired = first.slice(0, second.length);
  return mean(
    paired.map((item, index) => jsonSimilarity(item, second[index])),
    longest,
  );
}

function mean(scores: readonly number[], count: number): number {
  return scores.reduce((sum, score) => sum + score, 0) / count;
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
