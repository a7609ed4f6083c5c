/** Reads a leaf: one section, one field, one operator. */

import { quoteValue } from '../contracts/quote-value.ts';
import { indexedText } from '../contracts/storable-text.ts';
import { isObject, type JsonObject } from '../json/mod.ts';
import { FIXED_SECTIONS, type Field, OPEN_SECTIONS, SECTIONS } from './fields.ts';
import { childPath } from './json-path.ts';
import type { Comparison, Leaf } from './nodes.ts';
import { readOpenField } from './open-field.ts';
import { invalid, readComparison, readOperator } from './operand.ts';

const USE_A_BRANCH = 'combine leaves with {"left": …, "operator": "and", "right": …}';

/**
 * Returns the only member of an object.
 * @throws AssayError invalid_filter, with a sentence that says what belongs there
 */
function onlyMember(
  value: unknown,
  path: string,
  noun: string,
  hint: string,
): [name: string, member: unknown] {
  if (!isObject(value))
    throw invalid(path, `must be an object with one ${noun}, but is ${quoteValue(value)}`);
  const names = Object.keys(value);
  const [name] = names;
  if (name === undefined) throw invalid(path, `must hold one ${noun}, but is empty: ${hint}`);
  if (names.length > 1) {
    throw invalid(
      path,
      `must hold one ${noun}, but holds ${names.length} (${listNames(names)}): ${USE_A_BRANCH}`,
    );
  }
  return [name, value[name]];
}

const MOST_NAMES_SHOWN = 10;

function listNames(names: string[]): string {
  const shown = names.slice(0, MOST_NAMES_SHOWN).map((name) => quoteValue(name));
  return names.length > shown.length ? `${shown.join(', ')}, …` : shown.join(', ');
}

function hintForFields(section: string): string {
  const fields = FIXED_SECTIONS.get(section);
  return fields === undefined ? `name one of ${section}` : `use one of ${[...fields.keys()].join(', ')}`;
}

function readField(section: string, name: string, path: string): Field {
  const open = OPEN_SECTIONS.find((candidate) => candidate === section);
  if (open !== undefined) return readOpenField(open, name, path);
  const field = FIXED_SECTIONS.get(section)?.get(name);
  if (field === undefined) throw invalid(path, `is not a field of ${section}: ${hintForFields(section)}`);
  return field;
}

/**
 * Reads a leaf from a non-empty object that is no branch.
 * @throws AssayError invalid_filter
 */
export type LeafReader = (value: JsonObject, path: string) => Leaf;

/** Reads a leaf of our own sections. See `LeafReader`. */
export const readLeaf: LeafReader = (value, path) => {
  const unknown = Object.keys(value).find((name) => !SECTIONS.includes(name));
  if (unknown !== undefined) {
    throw invalid(
      childPath(path, unknown),
      `is not a section: use one of ${SECTIONS.join(', ')}, or a branch of left, operator and right`,
    );
  }
  const [section, fields] = onlyMember(value, path, 'section', '');
  const sectionPath = childPath(path, section);
  return readFieldOf(fields, sectionPath, {
    hint: hintForFields(section),
    find: (name, fieldPath) => readField(section, name, fieldPath),
  });
};

/** The fields of a section. */
export type SectionFields = {
  /** Says which fields there are. */
  hint: string;
  /** @throws AssayError invalid_filter when there is no such field */
  find(name: string, path: string): Field;
};

/** Reads the fields of a section, of which there must be one: `{"latency": {"gt": 500}}`. */
export function readFieldOf(fields: unknown, path: string, { hint, find }: SectionFields): Leaf {
  const [fieldName, operators] = onlyMember(fields, path, 'field', hint);
  const fieldPath = childPath(path, fieldName);
  return readComparisonOf(find(fieldName, fieldPath), operators, fieldPath);
}

/** The ordered columns that every record has. */
const ALWAYS_PRESENT: ReadonlySet<string> = new Set(['created_at', 'status']);
const OPPOSITES = { 'not-gte': 'lt', 'not-lte': 'gt', 'not-gt': 'lte', 'not-lt': 'gte' } as const;

/** Returns the same comparison, as an order where no value can be missing: indexes serve orders, and no complements of them. */
function whereAlwaysPresent(field: Field, comparison: Comparison): Comparison {
  if (!('column' in field && ALWAYS_PRESENT.has(field.column))) return comparison;
  switch (comparison.operator) {
    case 'not-gte':
    case 'not-lte':
    case 'not-gt':
    case 'not-lt':
      return { operator: OPPOSITES[comparison.operator], operand: comparison.operand };
    default:
      return comparison;
  }
}

/** Columns whose texts are cut when they are stored. */
const CUT_COLUMNS: ReadonlySet<string> = new Set([
  'user_id',
  'model',
  'request_model',
  'response_model',
  'response_id',
  'prompt_id',
]);

/** Returns the same comparison with a text as the column holds it: the whole of a longer one is in no record. */
function asStored(field: Field, comparison: Comparison): Comparison {
  if (field.kind !== 'column' || !CUT_COLUMNS.has(field.column)) return comparison;
  const { operator, operand } = comparison;
  if ((operator !== 'equals' && operator !== 'not-equals') || typeof operand !== 'string') return comparison;
  return { operator, operand: indexedText(operand) };
}

/** Reads the operators of a field, of which there must be one: `{"gt": 500}`. */
function readComparisonOf(field: Field, operators: unknown, path: string): Leaf {
  const [operatorName, operand] = onlyMember(operators, path, 'operator', 'for example {"equals": …}');
  const operandPath = childPath(path, operatorName);
  const operator = readOperator(operatorName, field, operandPath);
  const read = readComparison(operator, field.type, operand, operandPath);
  const comparison = asStored(field, whereAlwaysPresent(field, read));
  return Object.freeze({ kind: 'leaf', field: Object.freeze(field), comparison: Object.freeze(comparison) });
}
