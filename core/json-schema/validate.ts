/** Holds a JSON value against a schema, and finds the first rule that it breaks. */
import { quoteValue } from '../contracts/quote-value.ts';
import { canonicalJson, isObject, type JsonObject } from '../json/mod.ts';
import { equals } from './equals.ts';
import type { AllowedValues, JsonSchema, SchemaNode } from './read-schema.ts';

/** A broken rule: where, as in `request.messages.0.role`, and the rest of the sentence. */
export type Breach = { path: string; rule: string };

/** The same before the value is written out: most breaches are found within `anyOf` and `not`, and shown to nobody. */
type Fault = { path: string; must: string; value: unknown };

/**
 * Steps of one check, of up to 0.5 µs each: one for each schema and value that meet, and one for 16 characters of a text that
 * is counted. 50,000 values, the most of an item, may each meet five schemas.
 */
const MAX_STEPS = 250_000;

class OutOfSteps extends Error {}

/** The steps that several checks have left together; below 0: the last one was given up for that. */
export type SharedSteps = { left: number };

/**
 * Returns the first breach; null: the value fits.
 * @param value JSON that is nested no deeper than the stack allows
 * @param path of the value
 * @param shared what this check and others may take together; default: no bound
 */
export function findBreach(
  schema: JsonSchema,
  value: unknown,
  path: string,
  shared: SharedSteps = { left: Number.POSITIVE_INFINITY },
): Breach | null {
  try {
    const fault = new Check(shared).fault(schema, value, path);
    return fault === null
      ? null
      : { path: fault.path, rule: `${fault.must}, but is ${quoteValue(fault.value)}` };
  } catch (error) {
    if (!(error instanceof OutOfSteps)) throw error;
    return { path, rule: 'takes too long to hold against the schema' };
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** By the end of `min…` and `max…`: how large a value is; null: the keywords have nothing to say about it. */
type SizeOf = (value: unknown, countMembers: (value: JsonObject) => number) => number | null;
const SIZES: readonly [keyword: string, what: string, sizeOf: SizeOf][] = [
  ['Length', 'characters', (value) => (typeof value === 'string' ? codePoints(value) : null)],
  ['Items', 'items', (value) => (Array.isArray(value) ? value.length : null)],
  ['Properties', 'members', (value, countMembers) => (isObject(value) ? countMembers(value) : null)],
];

/** Counts characters as JSON Schema does: a pair of surrogates is one. */
function codePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) count += 1;
  return count;
}

type NumberRule = [keyword: string, must: string, holds: (value: number, bound: number) => boolean];
const NUMBER_RULES: readonly NumberRule[] = [
  ['minimum', 'at least', (value, bound) => value >= bound],
  ['maximum', 'at most', (value, bound) => value <= bound],
  ['exclusiveMinimum', 'above', (value, bound) => value > bound],
  ['exclusiveMaximum', 'below', (value, bound) => value < bound],
  ['multipleOf', 'a multiple of', isMultiple],
];

/** Doubles are not exact: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  const tolerance = 4 * Number.EPSILON * Math.max(1, Math.abs(quotient));
  return Number.isFinite(quotient) && Math.abs(quotient - Math.round(quotient)) <= tolerance;
}

/** One check of a value, with the steps that it has left. */
class Check {
  #left = MAX_STEPS;
  readonly #shared: SharedSteps;
  readonly #members = new WeakMap<JsonObject, number>();

  constructor(shared: SharedSteps) {
    this.#shared = shared;
  }

  fault(schema: JsonSchema, value: unknown, path: string): Fault | null {
    this.#spend(1);
    if (schema === true) return null;
    if (schema === false) return { path, must: 'must not be there', value };
    return (
      this.#ofType(schema, value, path) ??
      this.#ofSize(schema, value, path) ??
      this.#ofObject(schema, value, path) ??
      this.#ofArray(schema, value, path) ??
      this.#ofParts(schema, value, path)
    );
  }

  /** Counts the members of a value once: a schema may ask for them hundreds of times. */
  readonly #countMembers = (value: JsonObject): number => {
    const known = this.#members.get(value);
    if (known !== undefined) return known;
    const count = Object.keys(value).length;
    this.#spend(count / 16);
    this.#members.set(value, count);
    return count;
  };

  #spend(steps: number): void {
    this.#left -= steps;
    this.#shared.left -= steps;
    if (this.#left < 0 || this.#shared.left < 0) throw new OutOfSteps();
  }

  #ofType({ types, values }: SchemaNode, value: unknown, path: string): Fault | null {
    const isOfType =
      types === null || types.has(typeOf(value)) || (types.has('integer') && Number.isInteger(value));
    if (!isOfType) return { path, must: `must be of type ${[...types].join(' or ')}`, value };
    if (values.every((allowed) => this.#isAmong(allowed, value))) return null;
    return { path, must: 'must be one of the values that the schema lists', value };
  }

  #isAmong({ plain, composite }: AllowedValues, value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return plain.has(value);
    return composite.some((one) => equals(one, value, () => this.#spend(1)));
  }

  #ofSize({ numbers }: SchemaNode, value: unknown, path: string): Fault | null {
    if (numbers.size === 0) return null;
    for (const [keyword, what, sizeOf] of SIZES) {
      const [least, most] = [numbers.get(`min${keyword}`), numbers.get(`max${keyword}`)];
      if (least === undefined && most === undefined) continue;
      if (typeof value === 'string') this.#spend(value.length / 16);
      const size = sizeOf(value, this.#countMembers);
      if (size === null) continue;
      if (least !== undefined && size < least)
        return { path, must: `must have at least ${least} ${what}`, value };
      if (most !== undefined && size > most)
        return { path, must: `must have at most ${most} ${what}`, value };
    }
    if (typeof value !== 'number') return null;
    for (const [keyword, must, holds] of NUMBER_RULES) {
      const bound = numbers.get(keyword);
      if (bound !== undefined && !holds(value, bound))
        return { path, must: `must be ${must} ${bound}`, value };
    }
    return null;
  }

  #ofObject(schema: SchemaNode, value: unknown, path: string): Fault | null {
    if (!isObject(value)) return null;
    // Names that the value has not are looked for, too.
    this.#spend((schema.required.length + (schema.properties?.size ?? 0)) / 8);
    const missing = schema.required.find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) return { path, must: `must have the member ${quoteValue(missing)}`, value };
    for (const [name, property] of schema.properties ?? []) {
      if (!Object.hasOwn(value, name)) continue;
      const fault = this.fault(property, value[name], `${path}.${name}`);
      if (fault !== null) return fault;
    }
    return this.#ofMembers(schema, value, path);
  }

  #ofMembers({ single, properties }: SchemaNode, value: JsonObject, path: string): Fault | null {
    const [names, others] = [single.get('propertyNames'), single.get('additionalProperties')];
    if (names === undefined && others === undefined) return null;
    for (const name of Object.keys(value)) {
      if (names !== undefined && this.fault(names, name, path) !== null)
        return { path, must: 'must have only names that fit propertyNames', value: name };
      if (others === undefined || properties?.has(name) === true) continue;
      const fault = this.fault(others, value[name], `${path}.${name}`);
      if (fault !== null) return fault;
    }
    return null;
  }

  #ofArray(schema: SchemaNode, value: unknown, path: string): Fault | null {
    if (!Array.isArray(value)) return null;
    const values = value as unknown[];
    if (schema.hasUniqueItems && new Set(values.map((one) => this.#identity(one))).size < values.length)
      return { path, must: 'must not hold an item twice', value };
    const { prefixItems, single } = schema;
    const items = single.get('items');
    const count = items === undefined ? Math.min(prefixItems.length, values.length) : values.length;
    for (let index = 0; index < count; index += 1) {
      const fault = this.fault(prefixItems[index] ?? items!, values[index], `${path}.${index}`);
      if (fault !== null) return fault;
    }
    const contained = single.get('contains');
    if (contained === undefined || values.some((one) => this.#fits(contained, one))) return null;
    return { path, must: 'must hold an item that fits contains', value };
  }

  /** Returns one text for each value. */
  #identity(value: unknown): string {
    const text = JSON.stringify(value);
    if (typeof value !== 'object' || value === null) {
      this.#spend(1 + text.length / 16);
      return text;
    }
    // Some microseconds, and 25 ns for each character.
    this.#spend(10 + text.length / 2);
    return canonicalJson(text) ?? text;
  }

  #fits(schema: JsonSchema, value: unknown): boolean {
    return this.fault(schema, value, '') === null;
  }

  #ofParts({ all, any, one, single }: SchemaNode, value: unknown, path: string): Fault | null {
    for (const part of all) {
      const fault = this.fault(part, value, path);
      if (fault !== null) return fault;
    }
    if (any !== null && !any.some((part) => this.#fits(part, value)))
      return { path, must: `must fit one of the ${any.length} schemas of anyOf`, value };
    if (one !== null && one.filter((part) => this.#fits(part, value)).length !== 1)
      return { path, must: `must fit exactly one of the ${one.length} schemas of oneOf`, value };
    const excluded = single.get('not');
    if (excluded === undefined || !this.#fits(excluded, value)) return null;
    return { path, must: 'must not fit the schema of not', value };
  }
}
