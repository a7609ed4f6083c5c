/** The fields of an item's form. Numbers keep their digits. Pure. */
import type { DatasetItem } from '#core/contracts/dataset.ts';
import { parseExactJson, parseExactObject } from '#core/json-values/mod.ts';
import { pretty } from '../../parts/draft/messages.ts';

/** The kinds of an expectation: none, a text as it is, or any JSON. */
export type ExpectedKind = 'none' | 'text' | 'json';

export type ItemFields = {
  externalId: string;
  split: string;
  cluster: string;
  /** JSON of an object. */
  request: string;
  expectedKind: ExpectedKind;
  expected: string;
  /** JSON of an object. Empty: none. */
  metadata: string;
};

/** Stands for JSON of another kind than is wanted: null is JSON, too. */
const NOT_TAKEN = Symbol('not taken');

const NEW_REQUEST = { messages: [{ role: 'user', content: '' }] };

function expectedOf(item: DatasetItem | null): Pick<ItemFields, 'expectedKind' | 'expected'> {
  const expected = item?.expected;
  if (typeof expected === 'string') return { expectedKind: 'text', expected };
  if (expected !== undefined) return { expectedKind: 'json', expected: pretty(expected) };
  return { expectedKind: item === null ? 'text' : 'none', expected: '' };
}

/** Returns the fields of an item; null: of a new one. */
export function itemFields(item: DatasetItem | null): ItemFields {
  const hasMetadata = Object.keys(item?.metadata ?? {}).length > 0;
  return {
    externalId: item?.externalId ?? '',
    split: item?.split ?? '',
    cluster: item?.cluster ?? '',
    request: pretty(item?.request ?? NEW_REQUEST),
    ...expectedOf(item),
    metadata: hasMetadata ? pretty(item?.metadata) : '',
  };
}

/** Returns what is wrong with a text that `parse` must take, and make something of; null: nothing. */
function faultOf(text: string, parse: (text: string) => unknown, sentence: string): string | null {
  try {
    return parse(text) === NOT_TAKEN ? sentence : null;
  } catch {
    return sentence;
  }
}

/** Returns what is wrong with each field of JSON; null: nothing. */
export function itemFaults({ request, expectedKind, expected, metadata }: ItemFields) {
  const object = (text: string) =>
    faultOf(text, (json) => parseExactObject(json) ?? NOT_TAKEN, 'Must be a JSON object');
  return {
    request: object(request),
    expected: expectedKind === 'json' ? faultOf(expected, parseExactJson, 'Must be JSON') : null,
    metadata: metadata.trim() === '' ? null : object(metadata),
  };
}

/** Returns the item of fields without faults, in the place of the one with this id; null: a new one. */
export function itemOf(fields: ItemFields, id: string | null): DatasetItem {
  const { externalId, split, cluster, request, expectedKind, expected, metadata } = fields;
  return {
    ...(id !== null && { id }),
    ...(externalId !== '' && { externalId }),
    request: parseExactObject(request)!,
    ...(expectedKind === 'text' && { expected }),
    ...(expectedKind === 'json' && { expected: parseExactJson(expected) }),
    ...(metadata.trim() !== '' && { metadata: parseExactObject(metadata)! }),
    ...(split !== '' && { split }),
    ...(cluster !== '' && { cluster }),
  };
}
