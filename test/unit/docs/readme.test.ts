import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseFilter } from '#core/filter/mod.ts';
import { readConfig } from '#platform/config/mod.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const readme = read('README.md');

/** Every variable that reading the configuration asks for. */
function variablesRead(): Set<string> {
  const asked = new Set<string>();
  readConfig(new Proxy<Record<string, string>>({}, { get: (_, name) => void asked.add(String(name)) }));
  return asked;
}

t.test('docs/configuration.md has every variable that is read, and no other', async (t) => {
  const documented = new Set(
    [...read('docs/configuration.md').matchAll(/`([A-Z][A-Z_0-9]{3,})`/g)].map(([, name]) => name!),
  );
  const variables = variablesRead();
  for (const name of documented) t.ok(variables.has(name), `${name} is read`);
  const covered = (name: string) =>
    documented.has(name) || (name.endsWith('_BASE_URL') && documented.has('OPENAI_BASE_URL'));
  for (const name of variables) t.ok(covered(name), `${name} is documented`);
});

t.test('README fits on one screen', async (t) => {
  t.ok(readme.trimEnd().split('\n').length <= 80);
});

t.test('every npm script that README and docs/commands.md name exists', async (t) => {
  const { scripts } = JSON.parse(read('package.json'));
  for (const [, name] of `${readme}${read('docs/commands.md')}`.matchAll(/`npm run ([a-z]+)/g)) {
    t.ok(scripts[name!], `npm run ${name}`);
  }
});

t.test(
  'the bodies of the calls in README and docs/quickstart.md are JSON, and their filters pass',
  async () => {
    for (const [, body = ''] of `${readme}${read('docs/quickstart.md')}`.matchAll(/-d '(.*?)'$/gms)) {
      const { filter } = JSON.parse(body);
      if (filter !== undefined) parseFilter(filter);
    }
  },
);
