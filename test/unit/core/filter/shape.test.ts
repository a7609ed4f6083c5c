import t from 'tap';
import { FIXED_SECTIONS, OPERATORS, SECTIONS } from '#core/filter/fields.ts';
import { filterForms, parseFilter } from '#core/filter/mod.ts';

type Schema = {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  anyOf?: Schema[];
  minProperties?: number;
  maxProperties?: number;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | false;
  $ref?: string;
};

const FORMS = filterForms({ $ref: 'Filter' }) as Schema[];
const FORMATS: Readonly<Record<string, RegExp>> = {
  'date-time': /^\d{4}-.*T/,
  date: /^\d{4}-\d\d-\d\d$/,
  uuid: /^[\dA-Fa-f]{8}(-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12}$/,
};

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Returns whether a value has a schema, by the keywords that these schemas use. */
function accepts(schema: Schema, value: unknown): boolean {
  const { type, format, pattern, anyOf } = schema;
  if (schema.$ref !== undefined) return isFilter(value);
  if (anyOf !== undefined) return anyOf.some((one) => accepts(one, value));
  if ('const' in schema && schema.const !== value) return false;
  if (schema.enum?.includes(value) === false) return false;
  if (type !== typeOf(value)) return false;
  if (typeof value === 'string') {
    return (format === undefined || FORMATS[format]!.test(value)) && new RegExp(pattern ?? '').test(value);
  }
  return typeof value !== 'object' || value === null || acceptsMembers(schema, value);
}

function acceptsMembers(schema: Schema, value: object): boolean {
  const members = Object.entries(value);
  const { minProperties = 0, maxProperties = 9, required = [], properties = {} } = schema;
  if (members.length < minProperties || members.length > maxProperties) return false;
  if (required.some((name) => !Object.hasOwn(value, name))) return false;
  return members.every(([name, member]) => {
    const found = properties[name] ?? schema.additionalProperties;
    return found !== undefined && found !== false && accepts(found, member);
  });
}

function isFilter(value: unknown): boolean {
  return FORMS.some((form) => accepts(form, value));
}

function isParsed(value: unknown): boolean {
  try {
    parseFilter(value);
    return true;
  } catch {
    return false;
  }
}

const OPERANDS = [
  'B6A02FA1-2b2d-40c5-95e1-93b528d8b55b',
  'x',
  'x\\',
  'x\\\\',
  '2026-01-31',
  '2026-01-31T12:00:00Z',
  1,
  true,
  null,
  {},
];
const FIELDS = [...new Set([...FIXED_SECTIONS.values()].flatMap((fields) => [...fields.keys()])), 'any'];

t.test('the schema of filters accepts exactly the leaves that parseFilter accepts', async (t) => {
  let accepted = 0;
  for (const section of [...SECTIONS, 'other']) {
    for (const field of FIELDS) {
      for (const operator of [...OPERATORS, 'other']) {
        for (const operand of OPERANDS) {
          const leaf = { [section]: { [field]: { [operator]: operand } } };
          if (isFilter(leaf) !== isParsed(leaf)) t.fail(JSON.stringify(leaf));
          if (isFilter(leaf)) accepted += 1;
        }
      }
    }
  }
  t.ok(accepted > 500);
});

t.test('the schema of filters accepts exactly the forms that parseFilter accepts', async (t) => {
  const leaf = { request: { model: { equals: 'a' } } };
  const branch = { left: leaf, operator: 'and', right: 'all' };
  const filters = [
    'all',
    'none',
    {},
    [],
    0,
    null,
    leaf,
    { ...leaf, response: { status: { equals: 200 } } },
    { request: { model: { equals: 'a' }, path: { equals: 'b' } } },
    { request: { model: { equals: 'a', like: 'b' } } },
    { request: {} },
    branch,
    { ...branch, left: branch },
    { ...branch, right: { request: { model: 'a' } } },
    { ...branch, operator: 'xor' },
    { ...branch, other: 1 },
    { left: leaf, operator: 'and' },
  ];
  for (const filter of filters) t.equal(isFilter(filter), isParsed(filter), JSON.stringify(filter));
});
