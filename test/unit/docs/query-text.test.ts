import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MAX_DEPTH, MAX_LEAVES } from '#core/filter/limits.ts';
import { parseFilter } from '#core/filter/mod.ts';
import { MAX_QUERY_LENGTH, parseQuery } from '#core/filter/query-text/mod.ts';
import { OPEN_NAMES, SHORT_NAMES } from '#core/filter/query-text/names.ts';
import { rowsOf } from '../../support/markdown-tables.ts';

const document = readFileSync(join(import.meta.dirname, '../../../docs/api/query-text.md'), 'utf8');
const namesOf = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
const codeOf = (cell = '') => cell.slice(1, -1);
/** The rows of all tables with this head. */
function allRows(head: string): string[][] {
  const tables = document.split(`\n| ${head} |`).slice(1);
  return tables.flatMap((table) => rowsOf(`\n| ${head} |${table}`, head));
}

t.test('docs/api/query-text.md has every name of a field in the text, and no other', async (t) => {
  const documented = rowsOf(document, 'name').map(([name, also, field]) => [
    ...namesOf(name),
    ...namesOf(also),
    namesOf(field)[0],
  ]);
  const fixed = SHORT_NAMES.map(([names, section, field]) => [...names, `${section}.${field}`]);
  const open = OPEN_NAMES.map(([names, section]) => {
    const placeholder = section === 'scores' ? '<key>' : '<name>';
    return [...names.map((name) => `${name}.${placeholder}`), section];
  });
  t.strictSame(documented, [...fixed, ...open]);
});

t.test('every example in docs/api/query-text.md stands for the filter beside it', async (t) => {
  const rows = allRows('text');
  t.ok(rows.length > 20);
  for (const [text = '', filter] of rows) {
    const tree = JSON.parse(codeOf(filter));
    t.strictSame(parseQuery(codeOf(text)), tree, text);
    parseFilter(tree);
  }
});

t.test('the other texts in docs/api/query-text.md are queries', async () => {
  const texts = namesOf(document.replaceAll(/^\|.*$/gm, '').replaceAll(/```.*?```/gs, ''));
  const queries = texts.filter((text) => /^[-a-z."]+ ?[a-z"]*:[^:]|^"/.test(text) && !text.includes('…'));
  if (queries.length < 8) throw new Error(`only ${queries}`);
  for (const text of queries) parseQuery(text);
});

t.test(
  'the call and the mistake in docs/api/query-text.md are as the API takes and gives them',
  async (t) => {
    const [, body = ''] = /-d '(.*?)'$/m.exec(document) ?? [];
    parseFilter(parseQuery(JSON.parse(body).q));
    const [, answer = ''] = /```json\n(.*?)```/s.exec(document) ?? [];
    t.throws(() => parseQuery('status:abc'), { message: JSON.parse(answer).error });
  },
);

t.test('docs/api/query-text.md has the bounds of a text', async (t) => {
  const bounds = rowsOf(document, 'what').map(([, most = '']) => Number(most.replaceAll(',', '')));
  t.same(bounds, [MAX_QUERY_LENGTH, MAX_DEPTH, MAX_LEAVES]);
});
