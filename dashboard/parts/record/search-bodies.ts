/** Search in names and values. */
import type { SearchHit, SearchResult } from './body-methods.ts';
import { sliceWhole, stepTo, typeOf } from './nodes.ts';
import type { Path } from './path.ts';

const MOST_HITS = 200;
/** Hits in one string: a long text must not hide all others. */
const MOST_IN_TEXT = 20;
/** UTF-16 code units around a hit. */
const AROUND = 60;

/** Values that are looked at; more of them take seconds. */
const MOST_VALUES = 2_000_000;
/** Steps of a path that are told. */
const MOST_STEPS = 200;

/** A value whose members are being looked at. */
type Frame = { value: object; names: string[] | null; count: number; next: number };

function frameOf(value: object): Frame {
  const names = Array.isArray(value) ? null : Object.keys(value);
  return { value, names, count: names === null ? (value as unknown[]).length : names.length, next: 0 };
}

/** Collects hits until there are enough. */
class Hits {
  readonly list: SearchHit[] = [];
  readonly #pattern: RegExp;
  isCut = false;

  constructor(text: string) {
    this.#pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');
  }

  get isFull(): boolean {
    return this.list.length >= MOST_HITS;
  }

  look(within: string, place: 'name' | 'value', pathOf: () => Path): void {
    let found = 0;
    for (const { 0: match, index } of within.matchAll(this.#pattern)) {
      if (this.isFull || found === MOST_IN_TEXT) {
        this.isCut = true;
        return;
      }
      found += 1;
      this.list.push({
        path: pathOf(),
        place,
        before: sliceWhole(within, Math.max(0, index - AROUND), index),
        match: sliceWhole(match, 0, AROUND),
        after: sliceWhole(within, index + match.length, index + match.length + AROUND),
      });
    }
  }
}

/**
 * Finds a text, ignoring case, in the order of the tree. Values are walked without recursion: a body may be nested deeper than
 * any stack.
 */
export function searchBodies(roots: Readonly<Record<string, unknown>>, text: string): SearchResult {
  if (text === '') return { hits: [], isCut: false };
  const hits = new Hits(text);
  const open: Frame[] = [frameOf(roots)];
  const pathOf = () =>
    open.slice(0, MOST_STEPS).map(({ names, next }) => {
      const position = next - 1;
      return names === null ? String(position) : stepTo(names[position]!, position);
    });
  let looked = 0;
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    if (frame.next === frame.count) {
      open.pop();
      continue;
    }
    looked += 1;
    if (hits.isFull || looked > MOST_VALUES) return { hits: hits.list, isCut: true };
    const name = frame.names?.[frame.next] ?? null;
    const value = (frame.value as Record<string, unknown>)[name ?? frame.next];
    frame.next += 1;
    if (name !== null && open.length > 1) hits.look(name, 'name', pathOf);
    const type = typeOf(value);
    if (type === 'object' || type === 'array') open.push(frameOf(value as object));
    else hits.look(typeof value === 'string' ? value : JSON.stringify(value ?? null), 'value', pathOf);
  }
  return { hits: hits.list, isCut: hits.isCut };
}
