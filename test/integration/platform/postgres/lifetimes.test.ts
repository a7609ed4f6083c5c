/** The lifetimes of tables, as docs/deployment.md lists them. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { databaseFor } from '../../../support/world.ts';

const DEPLOYMENT = new URL('../../../../docs/deployment.md', import.meta.url);

/** Returns the tables in the first column of the section, in order of their names. */
function documentedTables(): string[] {
  const [, section = ''] = readFileSync(DEPLOYMENT, 'utf8').split('\n## How long data is kept\n');
  const rows = section.split('\n## ')[0]!.matchAll(/^\| (`[^|]*) \|/gm);
  return [...rows]
    .flatMap(([, names = '']) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name!))
    .sort();
}

t.test('the documentation says of each table how long its rows are kept, and of no other', async (t) => {
  const { sql } = await databaseFor(t);
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
     where relnamespace = 'assay'::regnamespace and relkind in ('r', 'p') and not relispartition`;
  t.same(documentedTables(), tables.map(({ name }) => name).sort());
});
