/** docs/configuration.md, which comes from the schema of the environment. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { documentedVariables } from '#platform/config/mod.ts';
import { withConfigurationTable } from '../../../scripts/configuration/table.ts';
import { rowsOf } from '../../support/markdown-tables.ts';

const path = join(import.meta.dirname, '../../../docs/configuration.md');
const document = readFileSync(path, 'utf8');

t.test('docs/configuration.md is what npm run docs:configuration writes', async (t) => {
  t.equal(document, withConfigurationTable(document, documentedVariables()));
});

t.test('docs/configuration.md changes when a variable does', async (t) => {
  const [first, ...others] = documentedVariables();
  if (first === undefined) throw new Error('There are no variables');
  const changed = withConfigurationTable(document, [{ ...first, form: 'another form' }, ...others]);
  t.not(changed, document);
  t.equal(withConfigurationTable(changed, [first, ...others]), document, 'and back');
  t.throws(() => withConfigurationTable('No markers', []), /must hold/);
});

t.test('every variable has its values, processes and meaning, and no cell breaks its table', async (t) => {
  const variables = documentedVariables();
  for (const { name, form, roles, description } of variables) {
    t.match(name, /^[A-Z][A-Z0-9_]+$/);
    t.ok(form !== 'a text' && roles.length > 0 && description !== '', name);
  }
  const rows = document.split('\n').filter((line) => line.startsWith('| `'));
  t.equal(rows.length, variables.length);
  for (const row of rows) t.equal(row.split('|').length, 7, row);
  t.match(rowsOf(document, 'variable')[0]?.[0], /^`HOST`$/);
});
