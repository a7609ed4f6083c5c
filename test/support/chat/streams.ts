/** Answers of each dialect and the streams that tell them, for tests of what puts them together again. */
import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import type { JsonObject } from '#core/json/mod.ts';

/** An event before it is written: its `event:` field, where the dialect has one, and its data. */
export type Told = { name: string | null; data: JsonObject | string };

export function event({ name, data }: Told): string {
  const line = `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
  return name === null ? line : `event: ${name}\n${line}`;
}

/** A stream as its provider would write it. */
export const sse = (events: readonly Told[]): string => events.map(event).join('');

/** Named by their type, as Responses and Messages are. */
export const typed = (data: JsonObject): Told => ({ name: data.type as string, data });
/** Without a name, as completions are. */
export const plain = (data: JsonObject | string): Told => ({ name: null, data });

/** The two are the same JSON. */
export function sameJson(found: unknown, wanted: unknown): void {
  deepStrictEqual(JSON.parse(JSON.stringify(found)), JSON.parse(JSON.stringify(wanted)));
}

/** How a stream may be written without meaning anything else. */
export const framing = fc.record({
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  hasSpace: fc.boolean(),
  comment: fc.constantFrom('', ': ping\n\n', 'retry: 10\n', 'id: 7\n'),
  endsTorn: fc.boolean(),
});

/** Writes a stream in another way. */
export function reframe(
  text: string,
  frame: typeof framing extends fc.Arbitrary<infer T> ? T : never,
): string {
  const spaced = frame.hasSpace ? text : text.replace(/^(data|event): /gm, '$1:');
  const commented = frame.comment + spaced.replaceAll('\n\n', `\n\n${frame.comment}`);
  return `${commented}${frame.endsTorn ? 'data: {"torn": "' : ''}`.replaceAll('\n', frame.lineEnd);
}

/** Cuts a text at places, which may be the same: then a piece is empty. */
export function cut(text: string, places: readonly number[]): string[] {
  const at = places.map((place) => place % (text.length + 1)).sort((a, b) => a - b);
  return [...at, text.length].map((end, index) => text.slice(at[index - 1] ?? 0, end));
}

export const places = fc.array(fc.nat(), { maxLength: 6 });

/** A text and where it is cut into deltas. */
export const pieces = fc.tuple(fc.string({ unit: 'grapheme', maxLength: 30 }), places).map(([text, at]) => ({
  text,
  deltas: cut(text, at),
}));

/** A JSON object as a model writes one, cut anywhere. */
export const jsonPieces = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }), places)
  .map(([value, at]) => ({ text: JSON.stringify(value), deltas: cut(JSON.stringify(value), at) }));

/** Merges sequences into one, each in its own order. */
export function interleave<T>(sequences: readonly (readonly T[])[], choices: readonly number[]): T[] {
  const rest = sequences.map((sequence) => [...sequence]).filter((sequence) => sequence.length > 0);
  const merged: T[] = [];
  for (let turn = 0; rest.length > 0; turn += 1) {
    const at = (choices[turn % Math.max(1, choices.length)] ?? 0) % rest.length;
    merged.push(rest[at]!.shift()!);
    if (rest[at]!.length === 0) rest.splice(at, 1);
  }
  return merged;
}
