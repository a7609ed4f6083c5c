/** Reads one item of a dataset from its JSON text, and checks everything but the dataset's own schemas. */
import { Compile, explain } from '../contracts/check.ts';
import {
  DatasetItem,
  MAX_EXPECTED_BYTES,
  MAX_METADATA_BYTES,
  MAX_REQUEST_BYTES,
} from '../contracts/dataset.ts';
import { AssayError } from '../contracts/errors.ts';
import { storableText } from '../contracts/storable-text.ts';
import { JsonFault, readMembers, scanMembers, withoutSpace } from '../json/mod.ts';
import type { ItemContent } from './item.ts';

/** An item that was read: its content, and the parsed values that schemas look at. */
export type ReadItem = ItemContent & {
  place: Place;
  id: string | null;
  sourceRequestId: string | null;
  values: { request: unknown; expected: unknown };
};

/** Where an item is, for sentences: `items.3`, whose members are `items.3.request`, or `Line 7`, in `Line 7: request`. */
export type Place = { whole: string; prefix: string };

/** Deeper than any real body, and within the stack of what walks it. */
const MAX_DEPTH = 512;
/** `JSON.parse` takes some 15 ms for this many values. */
const MAX_VALUES = 50_000;
/** Bytes of an item's text: its largest members, and room for the others. */
const MAX_ITEM_BYTES = MAX_REQUEST_BYTES + MAX_EXPECTED_BYTES + MAX_METADATA_BYTES + 64 * 1024;

const LIMITS = { request: MAX_REQUEST_BYTES, expected: MAX_EXPECTED_BYTES, metadata: MAX_METADATA_BYTES };
type Written = keyof typeof LIMITS;
const WRITTEN = Object.keys(LIMITS) as Written[];

const checker = Compile(DatasetItem);

/** Returns the error for an item, or for its member at `path`, that breaks a rule. */
export function invalidItem({ whole, prefix }: Place, path: string, rule: string): AssayError {
  return new AssayError('invalid_body', `${path === '' ? whole : `${prefix}${path}`} ${rule}`);
}

/**
 * @param bytes UTF-8 that need not be JSON
 * @param split of an item that names none
 * @throws AssayError invalid_body
 */
export function readItem(bytes: Buffer, place: Place, split: string | null): ReadItem {
  refuseLarge(place, '', bytes.length, MAX_ITEM_BYTES);
  const written = writtenMembers(place, bytes);
  const text = bytes.toString();
  const value: unknown = JSON.parse(text);
  const { repeated } = readMembers(text, []);
  if (repeated !== null)
    throw invalidItem(place, '', `names ${repeated} twice in one object: only one of them could count`);
  if (!checker.Check(value)) {
    const sentence = explain(checker.Errors(value).First()!);
    const isOfWhole = sentence.startsWith('body ');
    throw isOfWhole
      ? invalidItem(place, '', sentence.slice('body '.length))
      : new AssayError('invalid_body', `${place.prefix}${sentence}`);
  }
  if (value.request.messages === undefined && value.request.inputs === undefined)
    throw invalidItem(place, 'request.messages', 'is required, or request.inputs in its place');
  const textOf = (given: string | undefined) => (given === undefined ? null : storableText(given));
  return {
    place,
    id: value.id ?? null,
    externalId: textOf(value.externalId),
    request: written.request!,
    expected: written.expected,
    metadata: written.metadata ?? '{}',
    split: textOf(value.split) ?? split,
    cluster: textOf(value.cluster),
    sourceRequestId: textOf(value.sourceRequestId),
    values: { request: value.request, expected: value.expected },
  };
}

function refuseLarge(place: Place, path: string, bytes: number, limit: number): void {
  if (bytes > limit)
    throw invalidItem(place, path, `has ${bytes} bytes, of which at most ${limit} are allowed`);
}

/** Returns the texts of the members that are stored as they were written; null where there is none. */
function writtenMembers(place: Place, bytes: Buffer): Record<Written, string | null> {
  const { spans, values } = scan(place, bytes);
  if (values > MAX_VALUES)
    throw invalidItem(place, '', `holds ${values} values, of which at most ${MAX_VALUES} are allowed`);
  const entries = WRITTEN.map((name) => {
    const span = spans.get(name)!.at(-1);
    if (span === undefined) return [name, null];
    refuseLarge(place, name, span.end - span.start, LIMITS[name]);
    return [name, withoutSpace(bytes.toString('utf8', span.start, span.end))];
  });
  return Object.fromEntries(entries) as Record<Written, string | null>;
}

function scan(place: Place, bytes: Buffer) {
  try {
    return scanMembers(bytes, { names: WRITTEN, maxDepth: MAX_DEPTH });
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    if (fault.reason === 'depth') throw invalidItem(place, '', `is nested deeper than ${MAX_DEPTH} levels`);
    if (fault.reason === 'repeats') throw invalidItem(place, '', 'names a member many times in one object');
    throw invalidItem(
      place,
      '',
      fault.at === null
        ? 'is not valid JSON: it ends too early'
        : `is not valid JSON, from byte ${fault.at} on`,
    );
  }
}
