/** Keeps values of a conversation that are asked for later, and cuts what is shown at first. */
import { nodeOf, sliceWhole } from '../../record/nodes.ts';
import type { Path } from '../../record/path.ts';
import type { LongText, Side, TreeRoot } from './types.ts';

/** UTF-16 code units of a text that come at once. */
const BEGINNING = 4_000;
/** Of all texts of a page together; the later ones come with less. */
const BEGINNINGS = 200_000;
const LEAST = 200;
/** A name, a type, a reason: longer ones are no such thing. */
const SHORT = 200;

/** Returns a short text for a label. */
export function shortText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? sliceWhole(value, 0, SHORT) : null;
}

/** UTF-16 code units of the beginnings that a page may still hold. */
export type Allowance = { left: number };

/** Returns what a page may hold. */
export function fullAllowance(): Allowance {
  return { left: BEGINNINGS };
}

/** Keeps the values of one message. To read the message again gives them the same places. */
export class Keeper {
  readonly kept: unknown[] = [];
  readonly #root: Path;
  readonly #allowance: Allowance;

  /** @param place of the message in its conversation */
  constructor(side: Side, place: string, allowance: Allowance) {
    this.#root = [`kept-${side}`, place];
    this.#allowance = allowance;
  }

  keep(value: unknown): Path {
    this.kept.push(value);
    return [...this.#root, String(this.kept.length - 1)];
  }

  text(value: string): LongText {
    const text = sliceWhole(value, 0, Math.max(LEAST, Math.min(BEGINNING, this.#allowance.left)));
    this.#allowance.left -= text.length;
    return { text, length: value.length, path: this.keep(value) };
  }

  tree(value: unknown, name: string): TreeRoot {
    const path = this.keep(value);
    return { path, node: nodeOf(path.at(-1)!, name, value) };
  }
}
