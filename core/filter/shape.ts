/**
 * The JSON Schema of filters, made from the table of fields: for the OpenAPI document, and so for generators of clients.
 * Filters are checked by `parseFilter`, whose sentences name the faulty place in a tree.
 */
import { FIXED_SECTIONS, type FieldType, OPEN_SECTIONS, OPERATORS_OF_TYPE, type Operator } from './fields.ts';
import { MAX_STRING_LENGTH } from './limits.ts';
import { EARLIEST_MS, LATEST_MS } from './timestamp.ts';

type Schema = { readonly [keyword: string]: unknown };

const TEXT = { type: 'string', maxLength: MAX_STRING_LENGTH };
/** Without a single `\` at its end. */
const LIKE = { ...TEXT, pattern: '^(?:[^\\\\]|\\\\[\\s\\S])*$' };
const OPERANDS: Readonly<Record<FieldType, readonly Schema[]>> = {
  text: [TEXT],
  uuid: [{ type: 'string', format: 'uuid' }],
  number: [{ type: 'number' }],
  boolean: [{ type: 'boolean' }],
  timestamp: [
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'date' },
    { type: 'number', minimum: EARLIEST_MS, maximum: LATEST_MS, description: 'Milliseconds since the epoch' },
  ],
  value: [TEXT, { type: 'number' }, { type: 'boolean' }],
};

const object = (properties: object, more: object = {}) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...more,
});
const ONE_MEMBER = { minProperties: 1, maxProperties: 1 };

function operandOf(operator: Operator, type: FieldType): Schema {
  switch (operator) {
    case 'equals':
    case 'not-equals':
      return { anyOf: [...OPERANDS[type], { type: 'null' }] };
    case 'gte':
    case 'lte':
    case 'gt':
    case 'lt':
    case 'not-gte':
    case 'not-lte':
    case 'not-gt':
    case 'not-lt':
      return type === 'timestamp' ? { anyOf: OPERANDS.timestamp } : { type: 'number' };
    case 'like':
    case 'ilike':
    case 'not-like':
    case 'not-ilike':
      return LIKE;
    case 'contains':
    case 'not-contains':
      return TEXT;
  }
}

/** Returns the schema of one operator with its operand. */
function conditionOf(type: FieldType): Schema {
  const operators = OPERATORS_OF_TYPE[type].map((operator) => [operator, operandOf(operator, type)] as const);
  const $id = `${type[0]!.toUpperCase()}${type.slice(1)}Condition`;
  return object(Object.fromEntries(operators), { ...ONE_MEMBER, $id });
}

const CONDITIONS: Readonly<Record<FieldType, Schema>> = {
  text: conditionOf('text'),
  uuid: conditionOf('uuid'),
  number: conditionOf('number'),
  timestamp: conditionOf('timestamp'),
  boolean: conditionOf('boolean'),
  value: conditionOf('value'),
};
const OPEN_TYPES = { properties: 'text', values: 'value', scores: 'number' } as const;

function sections(): Record<string, Schema> {
  const fixed = [...FIXED_SECTIONS].map(([section, fields]) => {
    const conditions = [...fields].map(([name, { type }]) => [name, CONDITIONS[type]] as const);
    return [section, object(Object.fromEntries(conditions), ONE_MEMBER)] as const;
  });
  const open = OPEN_SECTIONS.map((section) => {
    const propertyNames = { maxLength: MAX_STRING_LENGTH };
    const additionalProperties = CONDITIONS[OPEN_TYPES[section]];
    return [section, { type: 'object', ...ONE_MEMBER, propertyNames, additionalProperties }] as const;
  });
  return Object.fromEntries([...fixed, ...open]);
}

/**
 * Returns the three forms of a filter: all, a leaf, a branch.
 * @param filter the schema of a filter inside a branch
 */
export function filterForms(filter: Schema): Schema[] {
  return [
    { type: 'string', const: 'all' },
    object(sections(), { maxProperties: 1 }),
    object(
      { left: filter, operator: { type: 'string', enum: ['and', 'or'] }, right: filter },
      { required: ['left', 'operator', 'right'] },
    ),
  ];
}
