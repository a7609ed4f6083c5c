import fc from 'fast-check';
import t from 'tap';
import {
  columnsText,
  DEFAULT_COLUMNS,
  FIXED_COLUMNS,
  neededColumns,
  readColumns,
} from '../../../../../dashboard/pages/requests/columns.ts';
import { href } from '../../../../../dashboard/state/address.ts';

const name = fc.oneof(
  fc.constantFrom(...FIXED_COLUMNS.map((column) => column.name)),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).map((text) => `property:${text.toWellFormed()}`),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).map((text) => `score:${text.toWellFormed()}`),
  fc.constantFrom(
    'property:a,b',
    'property:%2C',
    'property:100%',
    'property:+',
    'property: ',
    'property:property:',
  ),
);

t.test('columns of any names are the same after they were in an address', async () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 12 }), (names) => {
      const url = new URL(href('/requests', { cols: columnsText(names) }), 'http://localhost');
      const read = readColumns(url.searchParams.get('cols') ?? undefined).map((column) => column.name);
      return JSON.stringify(read) === JSON.stringify(names);
    }),
    { numRuns: 2_000 },
  );
});

t.test('columns that are not there, twice there, or of no name are left out', async (t) => {
  const read = (text: string) => readColumns(text).map((column) => column.name);
  t.same(read('cost,nothing,cost,property:,score:,model'), ['cost', 'model']);
  t.same(read('nothing'), DEFAULT_COLUMNS);
  t.same(read('%E0%A4%A'), DEFAULT_COLUMNS);
  t.equal(columnsText(DEFAULT_COLUMNS), null);
});

t.test('no address asks for more columns than the API allows', async (t) => {
  const names = Array.from({ length: 100 }, (_, index) => `property:p${index}`);
  const asked = neededColumns(readColumns(['scores', 'truncated', ...names].join(',')));
  t.ok(asked.length <= 60, `${asked.length} columns`);
  t.ok(asked.includes('property:p40'));
});

t.test('each column of the list is asked for once', async (t) => {
  const asked = neededColumns(readColumns('scores,feedback_rating,cost,truncated,property:Plan'));
  t.same(asked.toSorted(), [...new Set(asked)].toSorted());
  for (const name of ['cost', 'property:Plan', 'evaluations_pending']) t.ok(asked.includes(name), name);
});

t.test('a value that is missing is a dash in every column', async (t) => {
  const row = { request_id: 'r1' };
  for (const column of readColumns(
    [...FIXED_COLUMNS.map(({ name }) => name), 'property:a', 'score:b'].join(','),
  ))
    t.match(column.text(row as never, 0), /^–?$/, column.name);
});

t.test(
  'a click on the model, the key, the error or the source of a row filters by what the row shows',
  async (t) => {
    const row = {
      request_id: 'r1',
      model: 'gpt-5',
      request_model: 'openai/gpt-5',
      api_key_id: 'b6a02fa1-2b2d-40c5-95e1-93b528d8b55b',
      api_key_prefix: 'sk-assay-abc',
      error_code: 'rate_limit_exceeded',
      source: 'playground',
    };
    const clicks = readColumns('model,request_model,api_key_prefix,error_code,source').map((column) => [
      column.field,
      column.value(row),
      column.text(row, 0),
    ]);
    t.same(clicks, [
      ['model_used', 'gpt-5', 'gpt-5'],
      ['model', 'openai/gpt-5', 'openai/gpt-5'],
      ['api_key', row.api_key_id, 'sk-assay-abc'],
      ['error_code', 'rate_limit_exceeded', 'rate_limit_exceeded'],
      ['source', 'playground', 'playground'],
    ]);
    t.ok(neededColumns(readColumns('api_key_prefix')).includes('api_key_id'));
  },
);
