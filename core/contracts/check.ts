import type { Static, TSchema } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler';
import { AssayError, type ErrorCode } from './errors.ts';

/** A compiled schema. */
export type Checker<T extends TSchema> = TypeCheck<T>;

/** Compiles a schema once, at load. */
export function Compile<T extends TSchema>(schema: T): Checker<T> {
  return TypeCompiler.Compile(schema);
}

const LONGEST_SHOWN_VALUE = 80;

/** A value as an error sentence quotes it: JSON, cut to a readable length. */
export function quoteValue(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    // Nested too deep to be written out.
    text = Array.isArray(value) ? '[…]' : '{…}';
  }
  return text.length > LONGEST_SHOWN_VALUE ? `${text.slice(0, LONGEST_SHOWN_VALUE)}…` : text;
}

/** `/sort/created_at` as `sort.created_at`; the root as `body`. */
function pathOf(pointer: string): string {
  if (pointer === '') return 'body';
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
}

function ruleOf(error: ValueError): string {
  const { schema } = error;
  switch (error.type) {
    case ValueErrorType.ObjectAdditionalProperties:
      return 'is not a known field';
    case ValueErrorType.ObjectRequiredProperty:
      return 'is required';
    case ValueErrorType.Union: {
      const allowed = (schema.anyOf as TSchema[]).map((option) =>
        'const' in option ? JSON.stringify(option.const) : String(option.type),
      );
      return `must be one of ${allowed.join(', ')}`;
    }
    case ValueErrorType.Literal:
      return `must be ${JSON.stringify(schema.const)}`;
    case ValueErrorType.Integer:
      return 'must be a whole number';
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.NumberMinimum:
      return `must be at least ${schema.minimum}`;
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMaximum:
      return `must be at most ${schema.maximum}`;
    case ValueErrorType.ArrayMinItems:
      return `must hold at least ${schema.minItems} items`;
    case ValueErrorType.ArrayMaxItems:
      return `must hold at most ${schema.maxItems} items`;
    case ValueErrorType.StringMinLength:
      return `must have at least ${schema.minLength} characters`;
    case ValueErrorType.StringMaxLength:
      return `must have at most ${schema.maxLength} characters`;
    case ValueErrorType.ObjectMinProperties:
    case ValueErrorType.ObjectMaxProperties:
      return `must hold exactly one field${fieldsOf(schema)}`;
    case ValueErrorType.Object:
      return 'must be an object';
    case ValueErrorType.Array:
      return 'must be an array';
    case ValueErrorType.String:
      return 'must be a string';
    case ValueErrorType.Boolean:
      return 'must be true or false';
    case ValueErrorType.Number:
      return 'must be a number';
    default:
      return error.message;
  }
}

function fieldsOf(schema: TSchema): string {
  const names = Object.keys((schema.properties as object | undefined) ?? {});
  return names.length === 0 ? '' : ` of ${names.join(', ')}`;
}

/** One sentence for the first rule that `value` breaks: where, what it is, which rule. */
export function explain(error: ValueError): string {
  const where = pathOf(error.path);
  if (error.type === ValueErrorType.ObjectRequiredProperty) return `${where} is required`;
  return `${where} ${ruleOf(error)}, but is ${quoteValue(error.value)}`.replace(
    /is not a known field, but is .*/s,
    'is not a known field',
  );
}

/**
 * Returns `value` typed, or throws the sentence that says which rule it breaks.
 * @throws AssayError with `code`
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
