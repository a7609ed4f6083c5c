/** The fields of a filter: the fixed table of sections and fields, and the operators of each type. */

const EQUALITY = ['equals', 'not-equals'] as const;
const ORDER = ['gte', 'lte', 'gt', 'lt'] as const;
const PATTERN = ['like', 'ilike', 'contains', 'not-contains'] as const;
const NOT_ORDER = ['not-gte', 'not-lte', 'not-gt', 'not-lt'] as const;
const NOT_LIKE = ['not-like', 'not-ilike'] as const;

/** All operators of a leaf. */
export const OPERATORS = [...EQUALITY, ...ORDER, ...PATTERN, ...NOT_ORDER, ...NOT_LIKE] as const;
export type Operator = (typeof OPERATORS)[number];

/** Returns the operator that holds exactly where another does not, also where a value is missing. */
export function complementOf(operator: Operator): Operator {
  const name = operator.startsWith('not-') ? operator.slice('not-'.length) : `not-${operator}`;
  return OPERATORS.find((candidate) => candidate === name)!;
}

export type OrderOperator = (typeof ORDER)[number];
export type NotOrderOperator = (typeof NOT_ORDER)[number];
export type PatternOperator = (typeof PATTERN)[number] | (typeof NOT_LIKE)[number];

/** The type of a field's values; `value` is JSON of any type. */
export type FieldType = 'text' | 'uuid' | 'number' | 'timestamp' | 'boolean' | 'value';

/** The operators that the fields of a type allow. */
export const OPERATORS_OF_TYPE: Readonly<Record<FieldType, readonly Operator[]>> = {
  text: [...EQUALITY, ...PATTERN, ...NOT_LIKE],
  uuid: EQUALITY,
  number: [...EQUALITY, ...ORDER, ...NOT_ORDER],
  timestamp: [...EQUALITY, ...ORDER, ...NOT_ORDER],
  boolean: EQUALITY,
  value: OPERATORS,
};

/** A column of text in `assay.bodies`; both hold a JSON object. */
export type BodyColumn = 'request_text' | 'response_text';

/**
 * A column of whole numbers. Operands are multiplied by `10 ** scale` to get its unit: filters give cost in USD, the column
 * holds nano-dollars.
 */
export type WholeNumberField = {
  readonly kind: 'whole-number';
  readonly type: 'number';
  readonly column: string;
  readonly sqlType: 'int4' | 'int8';
  readonly scale: number;
};

/** The place and the type of the value that a leaf compares. */
export type Field =
  | WholeNumberField
  | {
      readonly kind: 'column';
      readonly type: 'text' | 'uuid' | 'timestamp' | 'boolean';
      readonly column: string;
    }
  | { readonly kind: 'body'; readonly type: 'text'; readonly column: BodyColumn }
  /** `name` is folded: property names ignore case. */
  | { readonly kind: 'property'; readonly type: 'text'; readonly name: string }
  | { readonly kind: 'score'; readonly type: 'number'; readonly key: string }
  /** A place in a body. */
  | {
      readonly kind: 'body-value';
      readonly type: 'value';
      readonly column: BodyColumn;
      readonly path: readonly string[];
    }
  /** A prompt input variable. */
  | { readonly kind: 'input'; readonly type: 'value'; readonly name: string };

const column =
  (type: Extract<Field, { kind: 'column' }>['type']) =>
  (name: string): Field => ({
    kind: 'column',
    type,
    column: name,
  });
const text = column('text');
const timestamp = column('timestamp');
const integer = (column: string): Field => ({
  kind: 'whole-number',
  type: 'number',
  column,
  sqlType: 'int4',
  scale: 0,
});

/** Sections with a fixed set of fields. Maps, so that `__proto__` and `constructor` are unknown fields. */
export const FIXED_SECTIONS: ReadonlyMap<string, ReadonlyMap<string, Field>> = new Map([
  [
    'request',
    new Map<string, Field>([
      ['id', text('request_id')],
      ['created_at', timestamp('created_at')],
      ['user_id', text('user_id')],
      ['path', text('path')],
      ['model', text('request_model')],
      ['model_used', text('model')],
      ['provider', text('provider')],
      ['api_key_id', column('uuid')('api_key_id')],
      ['source', text('source')],
      ['prompt_id', text('prompt_id')],
      ['prompt_version', text('prompt_version')],
      ['session_id', text('session_id')],
      ['session_name', text('session_name')],
      ['session_path', text('session_path')],
      ['body', { kind: 'body', type: 'text', column: 'request_text' }],
    ]),
  ],
  [
    'response',
    new Map<string, Field>([
      ['id', text('response_id')],
      ['created_at', timestamp('response_created_at')],
      ['status', integer('status')],
      ['error_code', text('error_code')],
      ['model', text('response_model')],
      ['latency', integer('latency_ms')],
      ['time_to_first_token', integer('ttft_ms')],
      ['prompt_tokens', integer('prompt_tokens')],
      ['completion_tokens', integer('completion_tokens')],
      ['total_tokens', integer('total_tokens')],
      ['cost', { kind: 'whole-number', type: 'number', column: 'cost_nano', sqlType: 'int8', scale: 9 }],
      ['body', { kind: 'body', type: 'text', column: 'response_text' }],
    ]),
  ],
  [
    'feedback',
    new Map<string, Field>([
      ['rating', column('boolean')('feedback_rating')],
      ['created_at', timestamp('feedback_created_at')],
    ]),
  ],
]);

/** Sections that take any name as a field. */
export const OPEN_SECTIONS = ['properties', 'values', 'scores'] as const;
export type OpenSection = (typeof OPEN_SECTIONS)[number];

/** All sections, in the order of error sentences. */
export const SECTIONS: readonly string[] = [
  'request',
  'response',
  'properties',
  'feedback',
  'values',
  'scores',
];
