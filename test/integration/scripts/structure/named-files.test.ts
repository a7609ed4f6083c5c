/** Comments name files that exist. */
import t from 'tap';
import { findMissingNames } from '../../../../scripts/structure/named-files.ts';

const PATHS = ['core/filter/operand.ts', 'ingest/judge-calls.ts', 'guides/limits.md', 'api/api.ts'];

function missingIn(text: string): string[] {
  return findMissingNames([{ path: 'api/api.ts', text }], PATHS).map(
    ({ line, rule }) => `${line} ${/^names (\S+), /.exec(rule)?.[1]}`,
  );
}

t.test('a comment that names a file which was moved is refused, in TypeScript and in SQL', async (t) => {
  t.same(missingIn('const a = 1;\n// See api/ingest/judge-calls.ts.'), ['2 api/ingest/judge-calls.ts']);
  t.same(missingIn('/**\n * Told in guides/old.md, and nowhere else.\n */'), ['2 guides/old.md']);
  t.same(missingIn('-- takes a lock first (api/ingest/judge-calls.ts).'), ['1 api/ingest/judge-calls.ts']);
});

t.test('files that exist, addresses, relative names and code are let be', async (t) => {
  for (const line of [
    '// ingest/judge-calls.ts takes the lock, and guides/limits.md says why.',
    '// https://example.com/api/other.md',
    '// Beside ./other.ts, and in filter/operand.ts.',
    "import { a } from 'core/other.ts';",
  ])
    t.same(missingIn(line), [], line);
});
