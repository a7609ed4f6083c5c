/** Exports that nothing imports. */
import t from 'tap';
import { readSource } from '../../../../scripts/structure/source.ts';
import { findUnusedExports } from '../../../../scripts/structure/unused-exports.ts';

/** Returns what is said of unused exports, as `path:line rule` up to the rule's first colon. */
function unusedIn(sources: Record<string, string>): string[] {
  const files = Object.entries(sources).map(([path, source]) => readSource(path, source));
  return findUnusedExports(files).map(({ path, line, rule }) => `${path}:${line} ${rule.split(':')[0]}`);
}

t.test('an export that nothing imports is refused, whether a value or a type', async (t) => {
  const sources = {
    'core/a.ts':
      'export const used = 1;\nexport function unused() {}\nexport type Unused = 1;\nexport class Kept {}',
    'core/b.ts': "import { type Kept, used } from './a.ts';",
  };
  t.same(unusedIn(sources), [
    'core/a.ts:2 nothing imports the export unused',
    'core/a.ts:3 nothing imports the export Unused',
  ]);
});

t.test('a type in the signature of another export needs no import of its own', async (t) => {
  const sources = {
    'core/a.ts': 'export type Options = { a: 1 };\nexport function make(options: Options) {}',
    'core/b.ts': "import { make } from './a.ts';",
  };
  t.same(unusedIn(sources), []);
});

t.test(
  'a re-export is refused when nothing imports it, and does not count as a use of its origin',
  async (t) => {
    const sources = {
      'core/a/a.ts': 'export const one = 1;\nexport const two = 2;\nexport const three = 3;',
      'core/a/mod.ts': "export { one, two as second } from './a.ts';\nexport * from './more.ts';",
      'core/a/more.ts': 'export const four = 4;\nexport const five = 5;',
      'api/b.ts': "import { five, second } from '#core/a/mod.ts';",
    };
    t.same(unusedIn(sources), [
      'core/a/a.ts:1 nothing imports the export one',
      'core/a/a.ts:3 nothing imports the export three',
      'core/a/mod.ts:1 nothing imports the re-export one',
      'core/a/more.ts:1 nothing imports the export four',
    ]);
  },
);

t.test('an export that only tests import must say so, and must stop saying so when it is used', async (t) => {
  const sources = {
    'core/a.ts': [
      'export const one = 1;',
      '/** @internal For tests. */',
      'export const two = 2;',
      '/** @internal For tests. */',
      'export const three = 3;',
    ].join('\n'),
    'core/b.ts': "import { three } from './a.ts';",
    'test/unit/core/a.test.ts': "import { one, three, two } from '#core/a.ts';",
  };
  t.same(unusedIn(sources), [
    'core/a.ts:1 only tests import the export one',
    'core/a.ts:5 the product imports the export three',
  ]);
});

t.test('a re-export that only tests import is refused', async (t) => {
  const sources = {
    'core/a/a.ts': 'export const one = 1;',
    'core/a/b.ts': "import { one } from './a.ts';",
    'core/a/mod.ts': "export { one } from './a.ts';",
    'test/unit/core/a/a.test.ts': "import { one } from '#core/a/mod.ts';",
  };
  t.same(unusedIn(sources), ['core/a/mod.ts:1 only tests import the re-export one']);
});

t.test('the exports of a file that is imported dynamically, or run as a thread, count as used', async (t) => {
  const sources = {
    'api/a.ts': "const a = await import('./b.ts');\nconst c = new URL('./c.ts', import.meta.url);",
    'dashboard/app.tsx': "const A = lazy(() => import('./a.tsx').then(({ A }) => A));",
    'dashboard/a.tsx': 'export function A() {}',
    'api/b.ts': 'export const one = 1;',
    'api/c.ts': 'export const two = 2;',
  };
  t.same(unusedIn(sources), []);
});
