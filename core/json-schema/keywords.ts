/** The keywords of JSON Schema that are read, and what each takes. */

export const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'] as const;

/** The kinds of values that keywords take. */
export type Operand =
  | 'schema'
  | 'schemas'
  | 'schemas by name'
  | 'type'
  | 'value'
  | 'values'
  | 'names'
  | 'count'
  | 'number'
  | 'positive number'
  | 'boolean'
  | 'reference'
  | 'ignored';

/**
 * `pattern` and `patternProperties` are not among them: a stranger's regular expression can take hours on a short text. `format`
 * is an annotation, as the standard has it.
 */
export const KEYWORDS: Readonly<Record<string, Operand>> = {
  type: 'type',
  enum: 'values',
  const: 'value',
  properties: 'schemas by name',
  additionalProperties: 'schema',
  propertyNames: 'schema',
  required: 'names',
  minProperties: 'count',
  maxProperties: 'count',
  items: 'schema',
  prefixItems: 'schemas',
  contains: 'schema',
  minItems: 'count',
  maxItems: 'count',
  uniqueItems: 'boolean',
  minLength: 'count',
  maxLength: 'count',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'positive number',
  allOf: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
  not: 'schema',
  $ref: 'reference',
  $defs: 'schemas by name',
  definitions: 'schemas by name',
  $schema: 'ignored',
  $id: 'ignored',
  $comment: 'ignored',
  title: 'ignored',
  description: 'ignored',
  default: 'ignored',
  examples: 'ignored',
  deprecated: 'ignored',
  readOnly: 'ignored',
  writeOnly: 'ignored',
  format: 'ignored',
};
