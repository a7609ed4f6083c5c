/** Values of bodies as the tree shows them, and the ways to them. */
import { isObject, isRawNumber } from '#core/json-values/mod.ts';
import type { Children } from './body-methods.ts';
import type { JsonNode, ValueType } from './json-node.ts';
import type { Path, Step } from './path.ts';

/** UTF-16 code units of a string that a node holds. */
const SHORT = 200;
/** Longer names are cut, and such members are found by their position. */
const LONGEST_NAME = 200;
const MOST_CHILDREN = 500;

/** Returns a piece of a text without half a surrogate pair at either end. */
export function sliceWhole(text: string, from: number, to: number): string {
  const isInPair = (at: number) =>
    at > 0 && at < text.length && /[\udc00-\udfff]/.test(text[at]!) && /[\ud800-\udbff]/.test(text[at - 1]!);
  return text.slice(isInPair(from) ? from + 1 : from, isInPair(to) ? to + 1 : to);
}

/** Names of objects with very many members are listed once. */
const namesByObject = new WeakMap<object, string[]>();

function namesOf(value: object): string[] {
  const known = namesByObject.get(value);
  if (known !== undefined) return known;
  const names = Object.keys(value);
  if (names.length > MOST_CHILDREN) namesByObject.set(value, names);
  return names;
}

export function typeOf(value: unknown): ValueType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isRawNumber(value)) return 'number';
  if (isObject(value)) return 'object';
  return typeof value as 'string' | 'number' | 'boolean';
}

function sizeOf(value: unknown, type: ValueType): number {
  if (type === 'array' || type === 'string') return (value as unknown[] | string).length;
  return type === 'object' ? namesOf(value as object).length : 0;
}

function textOf(value: unknown, type: ValueType): string {
  if (type === 'object' || type === 'array') return '';
  if (typeof value === 'string') return sliceWhole(value, 0, SHORT);
  return JSON.stringify(value ?? null);
}

/** Returns how the tree shows a value. */
export function nodeOf(step: Step, name: string, value: unknown): JsonNode {
  const type = typeOf(value);
  return {
    step,
    name: sliceWhole(name, 0, LONGEST_NAME),
    type,
    size: sizeOf(value, type),
    text: textOf(value, type),
  };
}

/** Returns some of a value's members. */
export function childrenOf(value: unknown, from: number, count: number): Children {
  const end = from + Math.min(count, MOST_CHILDREN);
  if (Array.isArray(value)) {
    const items = (value as unknown[]).slice(from, end);
    return {
      nodes: items.map((item, index) => nodeOf(String(from + index), String(from + index), item)),
      total: value.length,
    };
  }
  if (typeOf(value) !== 'object') return { nodes: [], total: 0 };
  const names = namesOf(value as object);
  const nodes = names.slice(from, end).map((name, index) => {
    const step = name.length > LONGEST_NAME ? from + index : name;
    return nodeOf(step, name, (value as Record<string, unknown>)[name]);
  });
  return { nodes, total: names.length };
}

/** Returns the member at a step; undefined: there is none. */
function memberOf(value: unknown, step: Step): unknown {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return undefined;
  if (typeof step === 'number') {
    const name = namesOf(value)[step];
    return name === undefined ? undefined : (value as Record<string, unknown>)[name];
  }
  if (Array.isArray(value) && !/^\d{1,10}$/.test(step)) return undefined;
  return Object.hasOwn(value, step) ? (value as Record<string, unknown>)[step] : undefined;
}

/** Returns the step to a member, as `memberOf` takes it. */
export function stepTo(name: string, position: number): Step {
  return name.length > LONGEST_NAME ? position : name;
}

/** Follows a path; undefined: it leads nowhere. */
export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, step) => memberOf(value, step), root);
}
