import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { FIXED_SECTIONS, OPERATORS_OF_TYPE } from '#core/filter/fields.ts';
import { MAX_DEPTH, MAX_LEAVES, MAX_PATH_SEGMENTS, MAX_STRING_LENGTH } from '#core/filter/limits.ts';
import { parseFilter } from '#core/filter/mod.ts';
import { rowsOf } from '../../support/markdown-tables.ts';

const document = readFileSync(join(import.meta.dirname, '../../../docs/api/filters.md'), 'utf8');
const namesOf = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

t.test('docs/api/filters.md has every field of the fixed sections with its type, and no other', async (t) => {
  const documented = rowsOf(document, 'section').flatMap(([section = '', fields, type]) =>
    FIXED_SECTIONS.has(namesOf(section)[0] ?? '')
      ? namesOf(fields).map((field) => `${namesOf(section)[0]}.${field} ${type}`)
      : [],
  );
  const known = [...FIXED_SECTIONS].flatMap(([section, fields]) =>
    [...fields].map(([name, { type }]) => `${section}.${name} ${type}`),
  );
  t.same(documented.sort(), known.sort());
});

t.test('docs/api/filters.md has the operators of each type', async (t) => {
  const [text, order, boolean] = rowsOf(document, 'type').map(([, operators]) => namesOf(operators).sort());
  t.same(text, [...OPERATORS_OF_TYPE.text].sort());
  t.same(order, [...OPERATORS_OF_TYPE.number].sort());
  t.same(order, [...OPERATORS_OF_TYPE.timestamp].sort());
  t.same(boolean, [...OPERATORS_OF_TYPE.boolean].sort());
});

t.test('docs/api/filters.md has the bounds of a filter', async (t) => {
  const bounds = rowsOf(document, 'what').map(([, most = '']) =>
    Number.parseInt(most.replaceAll(',', ''), 10),
  );
  t.same(bounds, [MAX_DEPTH, MAX_LEAVES, MAX_STRING_LENGTH, MAX_PATH_SEGMENTS]);
});

t.test('the example in docs/api/filters.md is a filter', async () => {
  const [, example = ''] = /```json\n(.*?)```/s.exec(document) ?? [];
  parseFilter(JSON.parse(example));
});
