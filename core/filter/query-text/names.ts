/** The names that fields have in the text: one table, which docs/api/query-text.md shows. */
import { FIXED_SECTIONS, type Field, type FieldType, OPEN_SECTIONS, type OpenSection } from '../fields.ts';
import { readOpenField } from '../open-field.ts';
import { isPlainName, quoted } from './quote.ts';

/** A field of the filter language. */
export type NamedField = {
  readonly section: string;
  readonly name: string;
  readonly type: FieldType;
  /** Unit of a number, where the text may name it: milliseconds, US dollars. */
  readonly unit: 'ms' | 'usd' | null;
};

type ShortName = readonly [names: readonly string[], section: string, field: string];

/** Returns the names of a section's fields; the last of each is that of the section. */
const shortNames = (section: string, ...fields: string[][]): ShortName[] =>
  fields.map((names) => [names, section, names.at(-1)!]);

/** Names of fixed fields beside `section.field`; the first of each is printed. */
export const SHORT_NAMES: readonly ShortName[] = [
  ...shortNames(
    'request',
    ['id'],
    ['created', 'created_at'],
    ['user', 'user_id'],
    ['path'],
    ['model'],
    ['model_used'],
    ['provider'],
    ['api_key', 'api_key_id'],
    ['source'],
    ['prompt', 'prompt_id'],
    ['prompt_version'],
    ['session', 'session_id'],
    ['session_name'],
    ['session_path'],
  ),
  ...shortNames(
    'response',
    ['status'],
    ['error_code'],
    ['latency'],
    ['ttft', 'time_to_first_token'],
    ['prompt_tokens'],
    ['completion_tokens'],
    ['tokens', 'total_tokens'],
    ['cost'],
  ),
  [['feedback'], 'feedback', 'rating'],
];

/** The first parts of the names of open sections; the first of each is printed. */
export const OPEN_NAMES: readonly (readonly [names: readonly string[], section: OpenSection])[] = [
  [['property', 'properties'], 'properties'],
  [['scores', 'score'], 'scores'],
  [['values'], 'values'],
];

const BY_NAME: ReadonlyMap<string, readonly [section: string, field: string]> = new Map(
  SHORT_NAMES.flatMap(([names, section, field]) => names.map((name) => [name, [section, field]] as const)),
);
const PRINTED: ReadonlyMap<string, string> = new Map(
  SHORT_NAMES.map(([[name = ''], section, field]) => [`${section}.${field}`, name]),
);
const OPEN_BY_NAME: ReadonlyMap<string, OpenSection> = new Map(
  OPEN_NAMES.flatMap(([names, section]) => names.map((name) => [name, section] as const)),
);
const UNITS: ReadonlyMap<string, 'ms' | 'usd'> = new Map([
  ['response.latency', 'ms'],
  ['response.time_to_first_token', 'ms'],
  ['response.cost', 'usd'],
]);

/** Lists the known fields, for error sentences about an unknown one. */
export const KNOWN_NAMES =
  `use one of ${SHORT_NAMES.map(([[name]]) => name).join(', ')}, property.<name>, scores.<key>, values.<input>, ` +
  'request.<field or path>, response.<field or path>';

function named(section: string, name: string, { type }: Field): NamedField {
  return { section, name, type, unit: UNITS.get(`${section}.${name}`) ?? null };
}

function fixedField(section: string, name: string): NamedField | null {
  const field = FIXED_SECTIONS.get(section)?.get(name);
  return field === undefined ? null : named(section, name, field);
}

/**
 * Returns the field that a text names; null: none.
 * @throws AssayError invalid_filter for a name that is too long, or a path that goes too deep
 */
export function findField(text: string): NamedField | null {
  const short = BY_NAME.get(text);
  if (short !== undefined) return fixedField(...short);
  const dot = text.indexOf('.');
  if (dot === -1) return recordField(text);
  const [first, rest] = [text.slice(0, dot), text.slice(dot + 1)];
  const open = OPEN_BY_NAME.get(first);
  if (open !== undefined) return openField(open, rest, text);
  const fixed = fixedField(first, rest);
  if (fixed !== null) return fixed;
  // Any other place is one in the body.
  return first === 'request' || first === 'response' ? openField('values', text, text) : null;
}

/** Returns the field whose value a record has under this name, as answers and exports show it (`request_user_id`); null: none. */
function recordField(name: string): NamedField | null {
  if (name === 'delay_ms') return fixedField('response', 'latency');
  const end = name.indexOf('_');
  return end === -1 ? null : fixedField(name.slice(0, end), name.slice(end + 1));
}

/** Returns the field that a text names; null: none, or one that no filter may name. */
export function findNamed(text: string): NamedField | null {
  try {
    return findField(text);
  } catch {
    return null;
  }
}

function openField(section: OpenSection, name: string, shown: string): NamedField {
  return named(section, name, readOpenField(section, name, shortened(shown)));
}

const LONGEST_SHOWN_NAME = 80;

/** Returns a name for an error sentence. */
export function shortened(name: string): string {
  return name.length > LONGEST_SHOWN_NAME ? `${name.slice(0, LONGEST_SHOWN_NAME)}…` : name;
}

/** Returns the field of a filter. */
export function fieldOf(section: string, name: string): NamedField {
  const open = OPEN_SECTIONS.find((candidate) => candidate === section);
  const field = open === undefined ? fixedField(section, name) : openField(open, name, name);
  if (field === null) throw new Error(`No filter has the field ${section}.${shortened(name)}`);
  return field;
}

/** Returns the name that a field has in the text. */
export function printName({ section, name }: NamedField): string {
  const short = PRINTED.get(`${section}.${name}`);
  if (short !== undefined) return short;
  if (FIXED_SECTIONS.has(section)) return `${section}.${name}`;
  if (section === 'values' && isPlainName(name) && isBodyPath(name)) return name;
  const [[first] = []] = OPEN_NAMES.find(([, open]) => open === section)!;
  return `${first}.${isPlainName(name) ? name : quoted(name)}`;
}

/** Returns whether a name of `values` means the same without `values.` before it. */
function isBodyPath(name: string): boolean {
  const [first = ''] = name.split('.', 1);
  if (first !== 'request' && first !== 'response') return false;
  return name.length > first.length + 1 && fixedField(first, name.slice(first.length + 1)) === null;
}
