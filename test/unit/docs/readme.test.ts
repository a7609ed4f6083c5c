import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseFilter } from '#core/filter/mod.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const readme = read('README.md');

t.test('README fits on one screen', async (t) => {
  t.ok(readme.trimEnd().split('\n').length <= 80);
});

t.test('every npm script that README and docs/commands.md name exists', async (t) => {
  const { scripts } = JSON.parse(read('package.json'));
  for (const [, name] of `${readme}${read('docs/commands.md')}`.matchAll(/`npm run ([a-z:]+)/g)) {
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
