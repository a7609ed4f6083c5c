/** Similarity of two values, from 0 (nothing alike) to 1 (equal). */
import { isObject, type JsonObject } from '#core/json/mod.ts';
import { editDistance } from '#core/text/mod.ts';
import { maximumAssignment } from './maximum-assignment.ts';

/**
 * Returns 1 less the edit distance of two texts as a share of the longer one's characters; 1 for two empty ones. A
 * character is a code point of the text in NFC: an emoji is one, and `é` is `é` however it was typed. User-perceived
 * characters would be closer still to what people count, but their rules change with each version of Unicode, and scores
 * with them.
 */
export function textSimilarity(one: string, other: string): number {
  const [first, second] = [one.normalize('NFC'), other.normalize('NFC')];
  const longest = Math.max([...first].length, [...second].length);
  return longest === 0 ? 1 : 1 - editDistance(first, second) / longest;
}

/** Returns 1 less the difference of two numbers as a share of the sum of their magnitudes. */
export function numberSimilarity(one: number, other: number): number {
  if (one === 0 && other === 0) return 1;
  return 1 - Math.abs(one - other) / (Math.abs(one) + Math.abs(other));
}

/**
 * Returns how much of one list of texts is in another: items are paired, each at most once, so that the similarities of
 * the pairs have the largest sum. That sum is divided by the length of the longer list, or by that of the expected list
 * when extra items do not count.
 */
export function listSimilarity(
  output: readonly string[],
  expected: readonly string[],
  allowExtraEntities: boolean,
): number {
  if (output.length === 0 || expected.length === 0) return output.length === expected.length ? 1 : 0;
  const total = maximumAssignment(
    output.map((item) => expected.map((wanted) => textSimilarity(item, wanted))),
  );
  const count = allowExtraEntities ? expected.length : Math.max(output.length, expected.length);
  return Math.min(1, total / count);
}

/**
 * Returns the similarity of two JSON values: the mean over the members of objects and the items of arrays. Texts are
 * compared by edit distance, numbers by their difference, texts that hold an object or an array as that value. A missing
 * member is null; values of two kinds are compared as JSON texts.
 */
export function jsonSimilarity(one: unknown, other: unknown): number {
  const [first, second] = [parseContainer(one), parseContainer(other)];
  if (isObject(first) && isObject(second)) return membersSimilarity(first, second);
  if (Array.isArray(first) && Array.isArray(second)) return itemsSimilarity(first, second);
  if (typeof first === 'string' && typeof second === 'string') return textSimilarity(first, second);
  if (typeof first === 'number' && typeof second === 'number') return numberSimilarity(first, second);
  const absent = [first, second].filter((value) => value === null || value === undefined).length;
  if (absent > 0) return absent === 2 ? 1 : 0;
  return textSimilarity(sortedJson(first), sortedJson(second));
}

/** Returns the object or array that a text holds; any other value unchanged. */
function parseContainer(value: unknown): unknown {
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
