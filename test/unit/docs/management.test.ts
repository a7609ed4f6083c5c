import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Compile, parseWith } from '#core/contracts/check.ts';
import { DIMENSIONS, METRICS } from '#core/contracts/metrics.ts';
import { DEFAULT_LIMIT, MAX_LIMIT, QueryBody, SORT_FIELDS } from '#core/contracts/query.ts';
import { RequestRecord } from '#core/contracts/record.ts';
import { findField, printName } from '#core/filter/query-text/names.ts';
import { LogRequestBody } from '../../../api/log/body.ts';
import { rowsOf } from '../../support/markdown-tables.ts';

const document = readFileSync(join(import.meta.dirname, '../../../docs/api/management.md'), 'utf8');
const namesOf = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

/** Returns the rows of the second table that begins with this head: the record's, after the query's. */
function recordRows(): string[][] {
  return rowsOf(document.slice(document.indexOf('\n## The record')), 'field');
}

t.test('docs/api/management.md has every field of a record, and no other', async (t) => {
  const documented = recordRows().flatMap(([names]) => namesOf(names));
  const known = Object.keys(RequestRecord.properties).filter(
    (name) => name !== 'inputs' && name !== 'expected',
  );
  t.same(documented.sort(), known.sort());
});

t.test('docs/api/management.md names one and the same field in each place', async (t) => {
  const rows = rowsOf(document, 'in a record').map((cells) => cells.map(namesOf));
  t.ok(rows.length > 10);
  const placed = (name: string) => name.replace(/<(?:name|key)>/, 'a');
  for (const [recorded = [], filters = [], texts = [], sorts = [], metrics = []] of rows)
    recorded.forEach((name, index) => {
      t.ok(name in RequestRecord.properties, name);
      const field = findField(placed(texts[index]!))!;
      t.equal(`${field.section}.${field.name}`, placed(filters[index]!));
      t.equal(printName(field), placed(texts[index]!), 'it is the name that is printed');
      if (name !== 'model' && !texts[index]!.includes('<'))
        t.same(findField(name), field, `${name} works in a text`);
      if (sorts.length > 0)
        t.ok(
          SORT_FIELDS.some((sort) => sort === sorts[index]),
          name,
        );
      const metric = metrics[index];
      if (metric !== undefined && !metric.includes('<'))
        t.ok(
          [...METRICS, ...DIMENSIONS].some((known) => known === metric),
          metric,
        );
    });
  const sorts = rows.flatMap(([, , , names]) => names ?? []);
  t.same(sorts.sort(), [...SORT_FIELDS].sort(), 'every field to sort by is there');
});

t.test('docs/api/management.md has every field of a query, with its sort fields and bounds', async (t) => {
  const rows = rowsOf(document, 'field');
  t.same(rows.flatMap(([names]) => namesOf(names)).sort(), [
    'filter',
    'includeExpected',
    'includeInputs',
    'isCached',
    'isPartOfExperiment',
    'isScored',
    'limit',
    'offset',
    'q',
    'sort',
  ]);
  const meaningOf = (name: string) => rows.find(([names]) => names === `\`${name}\``)?.[1];
  t.match(meaningOf('limit'), `1 to ${MAX_LIMIT} records`);
  t.equal(rows.find(([names]) => names === '`limit`')?.[2], String(DEFAULT_LIMIT));
  t.same(
    namesOf(meaningOf('sort')).filter((name) => name !== 'asc' && name !== 'desc'),
    [...SORT_FIELDS],
  );
});

t.test('the examples in docs/api/management.md pass the schemas', async () => {
  const [, query = ''] = /-d '(\{"filter".*?)'/.exec(document) ?? [];
  parseWith(Compile(QueryBody), JSON.parse(query));
  const [, logged = ''] = /```json\n(\{"provider".*?)```/s.exec(document) ?? [];
  parseWith(Compile(LogRequestBody), JSON.parse(logged));
});
