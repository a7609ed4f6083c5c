/** Values of a JSON Schema, as the routes declare them, and values that break it in one place. */
import fc from 'fast-check';
import type { JsonSchema } from '#core/contracts/openapi.ts';
import { printQuery } from '#core/filter/query-text/print.ts';
import type { FilterTree } from '#core/filter/query-text/tree.ts';
import { filterArbitrary } from './filter-arbitrary.ts';

/** Texts that have broken a store, a parser or a log somewhere. */
const ODD_TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '😀',
  "'; --",
  '%',
  '__proto__',
  '\u2028',
  'x'.repeat(10_001),
];
const ODD_NUMBERS = [0, -0, -1, 0.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 5e-324];
const ODD_VALUES: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, [], {}, [[]], { a: 1 }, [null]),
  fc.constantFrom(...ODD_TEXTS),
  fc.constantFrom(...ODD_NUMBERS),
  fc.nat(40).map((depth) => JSON.parse('['.repeat(depth + 1) + ']'.repeat(depth + 1)) as unknown),
);

const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 20 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_TEXTS) },
);

/** Returns values that a schema describes. What it says in words only is not followed. */
function valuesOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.$id === 'QueryText')
    return fc.oneof(
      filterArbitrary.map((filter) => printQuery(filter as FilterTree)),
      text,
    );
  if (schema.$id === 'Filter') return fc.oneof(filterArbitrary, fc.constantFrom<unknown>('all', {}));
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  const options = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (options !== undefined) return fc.oneof(...options.map(valuesOf));
  switch (schema.type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer(boundsOf(schema, 1_000_000));
    case 'number':
      return numbersOf(schema);
    case 'string':
      return stringsOf(schema);
    case 'array': {
      const { items = {}, minItems = 0, maxItems = 5 } = schema as Arrays;
      return fc.array(valuesOf(items), { minLength: minItems, maxLength: Math.min(maxItems, minItems + 5) });
    }
    case 'object':
      return objectsOf(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

type Arrays = { items?: JsonSchema; minItems?: number; maxItems?: number };
type Objects = {
  properties?: Record<string, JsonSchema>;
  patternProperties?: Record<string, JsonSchema>;
  required?: string[];
  minProperties?: number;
  maxProperties?: number;
};

function numbersOf(schema: JsonSchema): fc.Arbitrary<number> {
  const anyNumber = fc.double({ ...boundsOf(schema, 1e300), noNaN: true, noDefaultInfinity: true });
  const bounds = boundsOf(schema, 1_000_000);
  const [min, max] = [Math.ceil(bounds.min), Math.floor(bounds.max)];
  // Between 0.001 and 0.2 there is no whole number.
  return min > max ? anyNumber : fc.oneof(fc.integer({ min, max }), anyNumber);
}

function boundsOf({ minimum, maximum }: JsonSchema, far: number): { min: number; max: number } {
  const min = typeof minimum === 'number' ? minimum : -far;
  return { min, max: typeof maximum === 'number' ? maximum : Math.max(min, far) };
}

function stringsOf({ pattern, format, minLength = 0, maxLength = 30 }: JsonSchema): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.uuid();
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern));
  const [least, most] = [Number(minLength), Number(maxLength)];
  return text.map((value) => value.slice(0, most)).filter((value) => value.length >= least);
}

function objectsOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { properties = {}, patternProperties, required = [], maxProperties } = schema as Objects;
  const [open] = Object.values(patternProperties ?? {});
  if (open !== undefined)
    return fc.dictionary(text, valuesOf(open), { minKeys: 1, maxKeys: 3, noNullPrototype: true });
  const members = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, valuesOf(one)]));
  if (Object.keys(members).length === 0) return fc.constant({});
  if (maxProperties === 1) {
    return fc
      .constantFrom(...Object.keys(members))
      .chain((name) => members[name]!.map((value) => ({ [name]: value })));
  }
  return fc.record(members, { requiredKeys: required, noNullPrototype: true });
}

/** Returns values of a schema and `example`, one of them; half of them have one place replaced, dropped or added. */
export function valuesNear(schema: JsonSchema, example: unknown): fc.Arbitrary<unknown> {
  const described = fc.oneof(valuesOf(schema), fc.constant(example));
  const broken = fc
    .tuple(described, fc.nat(), ODD_VALUES)
    .map(([value, place, odd]) => withOdd(value, place, odd));
  return fc.oneof(described, broken);
}

/** Returns a value with one of its places, or itself, replaced. */
function withOdd(value: unknown, place: number, odd: unknown): unknown {
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const at = place % (names.length + 2);
  if (at === names.length) return odd;
  const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) };
  if (at === names.length + 1) return Object.assign(copy, { unknown: odd });
  const members = copy as Record<string, unknown>;
  members[names[at]!] = withOdd(members[names[at]!], Math.floor(place / (names.length + 2)), odd);
  return copy;
}
