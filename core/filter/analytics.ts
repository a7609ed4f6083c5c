/**
 * The section names of the analytics endpoint: `request_response_rmt` and `sessions_request_response_rmt`, the tables of the
 * system whose clients call it. Their fields become fields of ours while the filter is parsed, so that whatever compiles our
 * filters answers these, too.
 */
import { FIXED_SECTIONS, type Field, type OpenSection } from './fields.ts';
import { childPath } from './json-path.ts';
import { type LeafReader, readFieldOf, readLeaf } from './leaf.ts';
import type { Filter } from './nodes.ts';
import { readOpenField } from './open-field.ts';
import { invalid } from './operand.ts';
import { parseFilter } from './parse.ts';

/** A field of ours, as its section and name. */
type Ours = readonly [section: string, name: string];

/** Fields of the two sections that are fields of ours under another name. */
const RENAMED: ReadonlyMap<string, ReadonlyMap<string, Ours>> = new Map([
  [
    'request_response_rmt',
    new Map<string, Ours>([
      ['model', ['request', 'model_used']],
      ['request_id', ['request', 'id']],
      ['request_created_at', ['request', 'created_at']],
      ['response_created_at', ['response', 'created_at']],
      ['latency', ['response', 'latency']],
      ['time_to_first_token', ['response', 'time_to_first_token']],
      ['status', ['response', 'status']],
      ['user_id', ['request', 'user_id']],
      ['provider', ['request', 'provider']],
      ['request_path', ['request', 'path']],
      ['prompt_id', ['request', 'prompt_id']],
      ['prompt_version', ['request', 'prompt_version']],
      ['prompt_tokens', ['response', 'prompt_tokens']],
      ['completion_tokens', ['response', 'completion_tokens']],
      ['total_tokens', ['response', 'total_tokens']],
      ['cost', ['response', 'cost']],
      ['request_body', ['request', 'body']],
      ['response_body', ['response', 'body']],
    ]),
  ],
  [
    'sessions_request_response_rmt',
    // These are there as soon as the section `request` has them.
    new Map<string, Ours>([
      ['session_session_id', ['request', 'session_id']],
      ['session_session_name', ['request', 'session_name']],
    ]),
  ],
]);

/** Fields of `request_response_rmt` that hold any names. */
const OPEN: ReadonlyMap<string, OpenSection> = new Map([
  ['properties', 'properties'],
  ['search_properties', 'properties'],
  ['scores', 'scores'],
]);

const WITH_OTHERS = 'request_response_rmt';

/**
 * Checks a filter of the analytics endpoint: as `parseFilter`, with these two sections beside ours.
 * @throws AssayError invalid_filter
 */
export function parseAnalyticsFilter(value: unknown): Filter {
  return parseFilter(value, readAnalyticsLeaf);
}

const readAnalyticsLeaf: LeafReader = (value, path) => {
  const [section = ''] = Object.keys(value);
  if (Object.keys(value).length !== 1 || !RENAMED.has(section)) return readLeaf(value, path);
  const sectionPath = childPath(path, section);
  const fields = value[section];
  const open = section === WITH_OTHERS ? openFieldOf(fields) : null;
  if (open !== null) {
    const [name, ofOurs] = open;
    return readFieldOf((fields as Record<string, unknown>)[name], childPath(sectionPath, name), {
      hint: `name one of ${ofOurs}`,
      find: (inner, innerPath) => readOpenField(ofOurs, inner, innerPath),
    });
  }
  return readFieldOf(fields, sectionPath, {
    hint: hintFor(section),
    find: (name, fieldPath) => {
      const field = fieldsOf(section).get(name);
      if (field !== undefined) return field;
      throw invalid(fieldPath, `is not a field of ${section} here: ${hintFor(section)}`);
    },
  });
};

/** Returns the only field of a section if it holds any names, with the section of ours that it is. */
function openFieldOf(fields: unknown): [name: string, section: OpenSection] | null {
  if (typeof fields !== 'object' || fields === null) return null;
  const names = Object.keys(fields);
  const [name = ''] = names;
  const section = names.length === 1 ? OPEN.get(name) : undefined;
  return section === undefined ? null : [name, section];
}

/** Returns the fields of a section that we have. */
function fieldsOf(section: string): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const [name, [ours, field]] of RENAMED.get(section) ?? []) {
    const found = FIXED_SECTIONS.get(ours)?.get(field);
    if (found !== undefined) fields.set(name, found);
  }
  return fields;
}

function hintFor(section: string): string {
  const names = [...fieldsOf(section).keys(), ...(section === WITH_OTHERS ? OPEN.keys() : [])];
  return names.length === 0 ? 'it has none yet' : `use one of ${names.join(', ')}`;
}
