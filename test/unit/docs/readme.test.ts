import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig } from '#platform/config/mod.ts';

const root = join(import.meta.dirname, '../../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** Every variable that reading the configuration asks for. */
function variablesRead(): Set<string> {
  const asked = new Set<string>();
  readConfig(new Proxy<Record<string, string>>({}, { get: (_, name) => void asked.add(String(name)) }));
  return asked;
}

t.test('the configuration table has every variable that is read, and no other', async (t) => {
  const table = readme.slice(readme.indexOf('## Configuration'), readme.indexOf('## Measured'));
  const documented = new Set([...table.matchAll(/`([A-Z][A-Z_0-9]{3,})`/g)].map(([, name]) => name!));
  const read = variablesRead();
  for (const name of documented) t.ok(read.has(name), `${name} is read`);
  const covered = (name: string) =>
    documented.has(name) || (name.endsWith('_BASE_URL') && documented.has('OPENAI_BASE_URL'));
  for (const name of read) t.ok(covered(name), `${name} is documented`);
});

t.test('every npm script that the README names exists', async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const [, name] of readme.matchAll(/`npm run ([a-z]+)/g)) t.ok(scripts[name!], `npm run ${name}`);
});
