/** Reads a JSON Schema: refuses what it does not know, so that no rule is silently without effect. */
import { quoteValue } from '../contracts/quote-value.ts';
import { isObject, type JsonObject } from '../json/mod.ts';
import { KEYWORDS, type Operand, TYPES } from './keywords.ts';

/** A schema that was read; `true` allows everything, `false` nothing. */
export type JsonSchema = boolean | SchemaNode;

/** Values to compare with: objects and arrays one by one, all others at once. */
export type AllowedValues = { plain: ReadonlySet<unknown>; composite: readonly object[] };

export type SchemaNode = {
  types: ReadonlySet<string> | null;
  /** The values of `enum`, and that of `const`. */
  values: readonly AllowedValues[];
  required: readonly string[];
  /** The bounds and `multipleOf`, by keyword. */
  numbers: ReadonlyMap<string, number>;
  hasUniqueItems: boolean;
  properties: ReadonlyMap<string, JsonSchema> | null;
  prefixItems: readonly JsonSchema[];
  /** `allOf`, `anyOf` and `oneOf`, in this order. */
  all: readonly JsonSchema[];
  any: readonly JsonSchema[] | null;
  one: readonly JsonSchema[] | null;
  /** By keyword: those that take one schema. */
  single: ReadonlyMap<string, JsonSchema>;
};

/** Characters of a schema's JSON. */
const MAX_LENGTH = 64 * 1024;
/** Levels of schemas within schemas. */
const MAX_DEPTH = 32;
/**
 * Schemas within a schema, one behind a reference counted wherever it is referred to: each is held against each value of an
 * item at most once.
 */
const MAX_SCHEMAS = 500;

/** Why a schema cannot be used: the path within it, and the rest of the sentence. */
export class JsonSchemaError extends Error {
  readonly path: string;
  readonly rule: string;

  constructor(path: string, rule: string) {
    super(`${path} ${rule}`);
    this.name = 'JsonSchemaError';
    this.path = path;
    this.rule = rule;
  }
}

/** @throws JsonSchemaError */
export function readJsonSchema(value: unknown): JsonSchema {
  const { length } = JSON.stringify(value);
  if (length > MAX_LENGTH)
    throw new JsonSchemaError('', `has ${length} characters, of which at most ${MAX_LENGTH} are allowed`);
  return new SchemaReader(value).read(value, '', 0);
}

class SchemaReader {
  readonly #root: unknown;
  #schemas = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  read(value: unknown, path: string, depth: number): JsonSchema {
    this.#schemas += 1;
    if (this.#schemas > MAX_SCHEMAS)
      throw new JsonSchemaError(path, `is one of more than ${MAX_SCHEMAS} schemas, references followed`);
    if (depth > MAX_DEPTH)
      throw new JsonSchemaError(path, `is nested deeper than ${MAX_DEPTH} levels, references followed`);
    if (typeof value === 'boolean') return value;
    if (!isObject(value)) throw new JsonSchemaError(path, `must be a schema, but is ${quoteValue(value)}`);
    const at = (keyword: string) => `${path}.${keyword}`;
    for (const [keyword, operand] of Object.entries(value)) {
      const kind = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword]! : undefined;
      if (kind === undefined)
        throw new JsonSchemaError(
          at(keyword),
          'is a keyword that is not supported: docs/guides/datasets.md lists those that are',
        );
      requireOperand(kind, operand, at(keyword));
    }
    const sub = (one: unknown, subPath: string) => this.read(one, subPath, depth + 1);
    const list = (keyword: string) =>
      (value[keyword] as unknown[] | undefined)?.map((one, index) => sub(one, `${at(keyword)}.${index}`)) ??
      null;
    const single = ['additionalProperties', 'propertyNames', 'items', 'contains', 'not']
      .filter((keyword) => keyword in value)
      .map((keyword) => [keyword, sub(value[keyword], at(keyword))] as const);
    const target = '$ref' in value ? [this.#referred(value.$ref as string, at('$ref'), depth)] : [];
    const numbers = Object.entries(value).filter(
      ([keyword, operand]) =>
        typeof operand === 'number' && KEYWORDS[keyword] !== 'ignored' && keyword !== 'const',
    );
    return {
      types: 'type' in value ? new Set([value.type as string | string[]].flat()) : null,
      values: [
        ...('enum' in value ? [allowedValues(value.enum as unknown[])] : []),
        ...('const' in value ? [allowedValues([value.const])] : []),
      ],
      required: (value.required as string[] | undefined) ?? [],
      numbers: new Map(numbers as [string, number][]),
      hasUniqueItems: value.uniqueItems === true,
      properties: this.#named(value, sub, at('properties')),
      prefixItems: list('prefixItems') ?? [],
      all: [...target, ...(list('allOf') ?? [])],
      any: list('anyOf'),
      one: list('oneOf'),
      single: new Map(single),
    };
  }

  #named(
    { properties }: JsonObject,
    sub: (value: unknown, path: string) => JsonSchema,
    path: string,
  ): Map<string, JsonSchema> | null {
    if (properties === undefined) return null;
    const entries = Object.entries(properties as JsonObject);
    return new Map(entries.map(([name, schema]) => [name, sub(schema, `${path}.${name}`)]));
  }

  /** Reads the schema that a reference like `#/$defs/name` leads to. One that leads to itself ends at the limit of depth. */
  #referred(reference: string, path: string, depth: number): JsonSchema {
    let target = this.#root;
    const parts = reference.split('/').slice(1);
    for (const part of parts) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name))
        throw new JsonSchemaError(path, `must lead to a part of the schema, but is ${quoteValue(reference)}`);
      target = (target as JsonObject)[name];
    }
    return this.read(target, parts.map((part) => `.${part}`).join(''), depth + 1);
  }
}

function allowedValues(values: readonly unknown[]): AllowedValues {
  const isComposite = (value: unknown): value is object => typeof value === 'object' && value !== null;
  return {
    plain: new Set(values.filter((value) => !isComposite(value))),
    composite: values.filter(isComposite),
  };
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown) => typeof value === 'string';
/** Each value is compared with all objects and arrays of such a list. */
const MAX_LISTED = 1_000;
const isNonEmptyList = (value: unknown) => Array.isArray(value) && value.length > 0;

const OPERANDS: Readonly<Record<Operand, [must: string, check: (value: unknown) => boolean]>> = {
  schema: ['must be a schema', (value) => isObject(value) || typeof value === 'boolean'],
  schemas: ['must be an array of schemas', isNonEmptyList],
  'schemas by name': ['must be an object of schemas', isObject],
  type: [
    `must be one of ${TYPES.join(', ')}, or an array of them`,
    (value) => {
      const types = [value].flat();
      return types.length > 0 && types.every((type) => (TYPES as readonly unknown[]).includes(type));
    },
  ],
  value: ['', () => true],
  values: [
    `must be an array of 1 to ${MAX_LISTED} values`,
    (value) => isNonEmptyList(value) && (value as unknown[]).length <= MAX_LISTED,
  ],
  names: ['must be an array of strings', (value) => Array.isArray(value) && value.every(isText)],
  count: ['must be a whole number of at least 0', isCount],
  number: ['must be a number', Number.isFinite],
  'positive number': ['must be a number above 0', (value) => Number.isFinite(value) && (value as number) > 0],
  boolean: ['must be true or false', (value) => typeof value === 'boolean'],
  reference: [
    'must be # or begin with #/, as in "#/$defs/name"',
    (value) => isText(value) && /^#(?:\/|$)/.test(value as string),
  ],
  ignored: ['', () => true],
};

function requireOperand(kind: Operand, value: unknown, path: string): void {
  const [must, isRight] = OPERANDS[kind];
  if (!isRight(value)) throw new JsonSchemaError(path, `${must}, but is ${quoteValue(value)}`);
}
