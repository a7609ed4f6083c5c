/** Options for a place of a text: the list below a query that is being written. */
import type { Operand } from '../../nodes.ts';
import { findNamed, type NamedField, printName } from '../names.ts';
import { printOperand } from '../print-value.ts';
import { facetOf, fieldNames, operatorsOf } from './describe.ts';
import { type Place, placeAt, type Stretch, unquoted } from './place.ts';

/** A text that can take the place of the one from `from` up to `to`. */
export type Option = Stretch & {
  readonly kind: 'field' | 'operator' | 'value' | 'join';
  readonly insert: string;
  readonly label: string;
  readonly detail: string;
  /** Whether the same term goes on behind it: its value must follow. */
  readonly isUnfinished: boolean;
};

/** Options at the cursor. */
export type Completion = Stretch & {
  readonly kind: 'field' | 'value';
  /** Text before the cursor, without quotation marks. */
  readonly prefix: string;
  readonly options: readonly Option[];
  /** Whose values are to be asked for, by the name that `/v1/request/facets` has for it; null: there are none beside the options. */
  readonly values: { readonly field: NamedField; readonly facet: string } | null;
};

type ValuePlace = Extract<Place, { kind: 'value' }>;
type TermPlace = Extract<Place, { kind: 'term' }>;

const MOST_OPTIONS = 60;
/** Statuses that calls of models have. */
const STATUSES = [200, 400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504];
const RANGE_START = /^(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h)?|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+Z)?)$/;

/**
 * Returns what can stand at a place; null: nothing that is known.
 * @param names of open sections that there are: `property.Plan`, `scores.helpful`; without quotation marks
 */
export function completeAt(text: string, offset: number, names: readonly string[] = []): Completion | null {
  const place = placeAt(text, offset);
  if (place === null) return null;
  const { from, to } = place;
  const prefix = unquoted(text.slice(from, Math.max(from, offset)));
  if (place.kind === 'value') return completeValue(text, offset, place, prefix);
  const fields = fieldOptions(prefix, names, place);
  const joins = place.kind === 'term' ? joinOptions(prefix, place, text) : [];
  const options = [...fields.slice(0, MOST_OPTIONS), ...joins];
  return { kind: 'field', from, to, prefix, options, values: null };
}

/** Returns values as options for a place that `completeAt` was asked about. */
export function valueOptions(
  { from, to }: Stretch,
  field: NamedField,
  values: readonly { readonly value: Operand; readonly detail: string }[],
): Option[] {
  return values.map(({ value, detail }) => ({
    kind: 'value',
    insert: printOperand(field, value),
    from,
    to,
    label: value === null ? 'null' : String(value),
    detail: value === null ? `no value ${detail}`.trim() : detail,
    isUnfinished: false,
  }));
}

type Candidate = { name: string; text: string; detail: string; isUnfinished: boolean };

/** Lists the names that begin with a text, then those that have it inside. */
function fieldOptions(prefix: string, names: readonly string[], place: Stretch & { kind: string }): Option[] {
  const isPresence = place.kind === 'presence';
  const colon = isPresence ? '' : ':';
  const known = fieldNames().map(({ name, description, isBeginning }) => ({
    name,
    text: isBeginning ? name : name + colon,
    detail: description,
    isUnfinished: isBeginning || !isPresence,
  }));
  const has = { name: 'has', text: 'has:', detail: 'has any value: has:feedback', isUnfinished: true };
  // A name that is not listed, such as a place in a body.
  const open = prefix.includes('.') && !names.includes(prefix) ? [prefix] : [];
  const given = [...names, ...open].flatMap((name): Candidate[] => {
    const field = findNamed(name);
    if (field === null || known.some((one) => one.name === printName(field))) return [];
    const detail = name.startsWith('score') ? 'score' : name.startsWith('prop') ? 'property' : 'value';
    return [{ name, text: printName(field) + colon, detail, isUnfinished: !isPresence }];
  });
  const wanted = prefix.toLowerCase();
  const candidates: Candidate[] = [...known, ...(isPresence ? [] : [has]), ...given].filter(
    ({ text }) => text !== prefix,
  );
  const isStart = ({ name }: Candidate) => name.toLowerCase().startsWith(wanted);
  const isInside = (one: Candidate) => !isStart(one) && one.name.toLowerCase().includes(wanted);
  return [...candidates.filter(isStart), ...candidates.filter(isInside)].map(
    ({ name, text, detail, isUnfinished }) => ({
      kind: 'field',
      insert: text,
      from: place.from,
      to: place.to,
      label: name,
      detail,
      isUnfinished,
    }),
  );
}

function joinOptions(prefix: string, { from, to, hasTerm }: TermPlace, text: string): Option[] {
  const isNegated = text[from - 1] === '-';
  const words: [insert: string, detail: string, isPossible: boolean][] = [
    ['OR', 'or the next: binds less than AND', hasTerm && !isNegated],
    ['NOT', 'all but what the next finds', !isNegated],
    ['-', 'all but what the next finds', !isNegated],
    ['(', 'a group', true],
  ];
  return words
    .filter(([insert, , isPossible]) => isPossible && insert.startsWith(prefix) && insert !== prefix)
    .map(([insert, detail]) => ({
      kind: 'join',
      insert: /[A-Z]/.test(insert) ? `${insert} ` : insert,
      from,
      to,
      label: insert,
      detail,
      isUnfinished: true,
    }));
}

function completeValue(text: string, offset: number, place: ValuePlace, prefix: string): Completion {
  const { field, operator, from, to } = place;
  const isEquality = /^(?:|=|!=|equals:|not-equals:)$/.test(text.slice(operator.from, operator.to));
  const values = isEquality ? fixedValues(field) : [];
  const fitting = values.filter(({ value }) => String(value).startsWith(prefix) && String(value) !== prefix);
  const options = [
    ...(offset < from || from === to ? operatorOptions(place) : []),
    ...rangeOptions(place, text.slice(from, offset), operator.from === operator.to),
    ...valueOptions(place, field, fitting),
  ];
  const facet = isEquality ? facetOf(field) : null;
  return { kind: 'value', from, to, prefix, options, values: facet === null ? null : { field, facet } };
}

function fixedValues({ section, name, type }: NamedField): { value: Operand; detail: string }[] {
  const values: Operand[] = type === 'boolean' || type === 'value' ? [true, false] : [];
  if (section === 'response' && name === 'status') values.push(...STATUSES);
  return [...values, null].map((value) => ({ value, detail: '' }));
}

function operatorOptions({ field, operator, isInGroup }: ValuePlace): Option[] {
  return operatorsOf(field.type)
    .filter(([text]) => !(isInGroup && text === '('))
    .map(([text, detail]) => ({
      kind: 'operator',
      insert: text,
      from: operator.from,
      // What is there already gives way, but not a value behind it.
      to: operator.to,
      label: text,
      detail,
      isUnfinished: text !== '*',
    }));
}

/** Offers the dots of a range behind a number or a moment. */
function rangeOptions({ field, from, to }: ValuePlace, written: string, isPlain: boolean): Option[] {
  const isOrdered = field.type === 'number' || field.type === 'timestamp';
  if (!isPlain || !isOrdered || !RANGE_START.test(written)) return [];
  const detail = 'from here up to, but not including, what follows';
  const insert = `${written}..`;
  return [{ kind: 'operator', insert, from, to, label: insert, detail, isUnfinished: false }];
}
