/** Reads the fields of sections that take any name: properties, scores, values. */
import { foldName, storableText } from '../contracts/storable-text.ts';
import type { BodyColumn, Field, OpenSection } from './fields.ts';
import { MAX_PATH_SEGMENTS, MAX_STRING_LENGTH } from './limits.ts';
import { invalid, isTooLong } from './operand.ts';

const BODY_COLUMNS: ReadonlyMap<string, BodyColumn> = new Map([
  ['request', 'request_text'],
  ['response', 'response_text'],
]);

function checkName(name: string, path: string): void {
  if (isTooLong(name)) throw invalid(path, `must have a name of at most ${MAX_STRING_LENGTH} characters`);
}

/** Reads a field of `values`: `request.<path>` or `response.<path>` in a body, or the name of a prompt input variable. */
function readValuesField(name: string, path: string): Field {
  const dot = name.indexOf('.');
  const column = BODY_COLUMNS.get(name.slice(0, Math.max(dot, 0)));
  if (column === undefined) return { kind: 'input', type: 'value', name: storableText(name) };
  const segments = name.slice(dot + 1).split('.');
  if (segments.includes(''))
    throw invalid(path, 'must not have an empty part between, before or after its dots');
  if (segments.length > MAX_PATH_SEGMENTS) {
    throw invalid(path, `must be at most ${MAX_PATH_SEGMENTS} levels deep, but is ${segments.length}`);
  }
  return { kind: 'body-value', type: 'value', column, path: Object.freeze(segments.map(storableText)) };
}

export function readOpenField(section: OpenSection, name: string, path: string): Field {
  checkName(name, path);
  switch (section) {
    case 'properties':
      return { kind: 'property', type: 'text', name: foldName(name) };
    case 'scores':
      return { kind: 'score', type: 'number', key: storableText(name) };
    case 'values':
      return readValuesField(name, path);
  }
}
