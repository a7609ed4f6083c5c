import type { Static, TSchema } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler';
import { AssayError, type ErrorCode } from './errors.ts';
import { quoteValue } from './quote-value.ts';

export { quoteValue } from './quote-value.ts';

/** A schema that values are held against. */
export type Checker<T extends TSchema> = Pick<TypeCheck<T>, 'Check' | 'Errors'>;

/** Compiles a schema once, when the first value is held against it: those of all routes take a tenth of the API's start. */
export function Compile<T extends TSchema>(schema: T): Checker<T> {
  let compiled: TypeCheck<T> | null = null;
  const compile = () => {
    compiled ??= TypeCompiler.Compile(schema);
    return compiled;
  };
  return {
    Check: (value): value is Static<T> => compile().Check(value),
    Errors: (value) => compile().Errors(value),
  };
}

const PLAIN_NAME = /^[\w-]{1,80}$/;

/** Returns `sort.created_at` for `/sort/created_at`, quotes names that are not plain, and calls the root `body`. */
function pathOf(pointer: string): string {
  if (pointer === '') return 'body';
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, index) => {
      if (PLAIN_NAME.test(part)) return index === 0 ? part : `.${part}`;
      return index === 0 ? quoteValue(part) : `[${quoteValue(part)}]`;
    })
    .join('');
}

/**
 * Keywords of a schema beside JSON Schema's own; `openapi.ts` leaves these out of the document.
 * - `rule`: the rest of the sentence for a value that breaks `pattern`, as in `must be a UUID`.
 * - `nameRule`: the same for a name in a record that its pattern refuses.
 * - `unquoted`: the value may be a secret or hold one, so no sentence quotes it, nor the name of an unknown field.
 */
type SentenceKeywords = { rule?: string; nameRule?: string; unquoted?: boolean };

/** Returns the name of a schema's JSON type for a sentence; the constants of literals are written out. */
function nameOfType(schema: TSchema): string {
  if ('const' in schema) return JSON.stringify(schema.const);
  return TYPE_NAMES[String(schema.type)] ?? String(schema.type);
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
};

/** Returns the rule that a value of another type than `schema`'s breaks. */
function typeRule(schema: TSchema): string {
  if (schema.anyOf === undefined) return `must be ${nameOfType(schema)}`;
  const options = schema.anyOf as TSchema[];
  if (options.every((option) => 'const' in option))
    return `must be one of ${options.map(nameOfType).join(', ')}`;
  return `must be ${options.map((option) => (option.type === 'boolean' ? 'a boolean' : nameOfType(option))).join(' or ')}`;
}

const TYPE_ERRORS: ReadonlySet<ValueErrorType> = new Set([
  ValueErrorType.Array,
  ValueErrorType.Boolean,
  ValueErrorType.Integer,
  ValueErrorType.Literal,
  ValueErrorType.Null,
  ValueErrorType.Number,
  ValueErrorType.Object,
  ValueErrorType.String,
  ValueErrorType.Union,
]);

/** The broken rule, and the rest of the sentence about the value; absent: the value is quoted. */
type Rule = { must: string; instead?: string };

function ruleOf(error: ValueError): Rule {
  const { schema, value } = error;
  if (TYPE_ERRORS.has(error.type)) return { must: typeRule(schema) };
  switch (error.type) {
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.NumberMinimum:
      return { must: `must be at least ${schema.minimum}` };
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMaximum:
      return { must: `must be at most ${schema.maximum}` };
    case ValueErrorType.ArrayMinItems:
      return {
        must: `must hold at least ${schema.minItems} items`,
        instead: holds((value as unknown[]).length),
      };
    case ValueErrorType.ArrayMaxItems:
      return {
        must: `must hold at most ${schema.maxItems} items`,
        instead: holds((value as unknown[]).length),
      };
    case ValueErrorType.ArrayUniqueItems:
      return { must: 'must not hold an item twice' };
    case ValueErrorType.StringMinLength:
      if (schema.minLength === 1) return { must: 'must not be empty', instead: '' };
      return { must: `must have at least ${schema.minLength} characters`, instead: has(value as string) };
    case ValueErrorType.StringMaxLength:
      return { must: `must have at most ${schema.maxLength} characters`, instead: has(value as string) };
    case ValueErrorType.StringPattern:
      return { must: (schema as SentenceKeywords).rule ?? `must match ${schema.pattern}` };
    case ValueErrorType.ObjectMinProperties:
    case ValueErrorType.ObjectMaxProperties:
      return countRule(schema, Object.keys(value as object).length);
    default:
      return { must: error.message };
  }
}

const holds = (count: number) => `but holds ${count}`;
const has = (text: string) => `but has ${text.length}`;

/** Returns the rule of an object with a bounded number of fields: exactly one of those it names, or a range. */
function countRule(schema: TSchema, count: number): Rule {
  const names = Object.keys((schema.properties as object | undefined) ?? {});
  if (names.length > 0) return { must: `must hold exactly one field of ${names.join(', ')}` };
  const { minProperties: least, maxProperties: most } = schema;
  const range = least === undefined ? `at most ${most}` : `${least} to ${most}`;
  return { must: `must hold ${range} fields`, instead: holds(count) };
}

/** Returns the error behind that of a union: where a value has the type of one option, that option's rule says more. */
function innermost(error: ValueError): ValueError {
  if (error.type !== ValueErrorType.Union) return error;
  for (const errors of error.errors) {
    const inner = errors.First();
    if (inner === undefined || (inner.path === error.path && TYPE_ERRORS.has(inner.type))) continue;
    return {
      ...inner,
      schema: { ...inner.schema, unquoted: inner.schema.unquoted ?? error.schema.unquoted },
    };
  }
  return error;
}

/**
 * Returns one sentence for a rule that a value breaks: the place, the rule, and the value.
 * @param within a JSON pointer to the checked value, in the body that the sentence is about
 */
export function explain(found: ValueError, within = ''): string {
  const error = innermost(found);
  const path = within + error.path;
  const where = pathOf(path);
  const { unquoted = false, nameRule } = error.schema as SentenceKeywords;
  if (error.type === ValueErrorType.ObjectRequiredProperty) return `${where} is required`;
  if (error.type === ValueErrorType.ObjectAdditionalProperties) {
    if (nameRule !== undefined) return `${where} ${nameRule}`;
    const { maxProperties, properties = {} } = error.schema;
    if (!unquoted && maxProperties === 1) {
      return `${where} is not a known field: use one of ${Object.keys(properties).join(', ')}`;
    }
    if (!unquoted) return `${where} is not a known field`;
    const outer = pathOf(path.slice(0, path.lastIndexOf('/')));
    return `${outer} must have no field but ${Object.keys(error.schema.properties as object).join(', ')}`;
  }
  const { must, instead = unquoted ? '' : `but is ${quoteValue(error.value)}` } = ruleOf(error);
  return instead === '' ? `${where} ${must}` : `${where} ${must}, ${instead}`;
}

/**
 * Returns `value` typed.
 * @throws AssayError with `code`, and a sentence for the first rule that the value breaks
 */
export function parseWith<T extends TSchema>(
  checker: Checker<T>,
  value: unknown,
  code: ErrorCode = 'invalid_body',
): Static<T> {
  if (checker.Check(value)) return value;
  const first = checker.Errors(value).First();
  throw new AssayError(code, first === undefined ? 'body does not fit its schema' : explain(first));
}
