/** Writes the table of all variables into docs/configuration.md, between its two markers. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentedVariables } from '#platform/config/mod.ts';
import { withConfigurationTable } from './configuration/table.ts';

const path = join(import.meta.dirname, '../docs/configuration.md');
const document = readFileSync(path, 'utf8');
const expected = withConfigurationTable(document, documentedVariables());
if (document !== expected) writeFileSync(path, expected);
process.stdout.write(
  document === expected ? 'docs/configuration.md is up to date\n' : 'Wrote docs/configuration.md\n',
);
