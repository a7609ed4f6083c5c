/** The commands that check the structure. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Writes files below a new directory, which goes with the test. */
function project(t: { testdir(): string }, files: Record<string, string>): string {
  const directory = t.testdir();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  return directory;
}

t.test('the checker prints each breach with its file, line and remedy, and ends with 1', async (t) => {
  const directory = project(t, { 'core/a/a.ts': 'export const a = Date.now();\n', 'package.json': '{}' });
  const { status, stdout } = spawnSync(process.execPath, ['scripts/check-structure.ts', directory], {
    cwd: root,
  });
  t.equal(status, 1);
  t.same(stdout.toString().split('\n').slice(0, 3), [
    'core/a:1 has sources without a test place: add tests to test/unit/core/a/ or test/integration/core/a/',
    'core/a/a.ts:1 core must not use Date.now: core is pure; take the value as a parameter, or move this to platform',
    'core/a/a.ts:1 nothing imports the export a: remove it',
  ]);
});

t.test('Biome refuses a circle of imports, also one of types alone', async (t) => {
  const directory = project(t, {
    'a.ts': "import type { B } from './b.ts';\n\nexport type A = B[];\n",
    'b.ts': "import type { A } from './a.ts';\n\nexport type B = A | null;\n",
  });
  const biome = join(root, 'node_modules/.bin/biome');
  const parameters = ['lint', '--config-path', root, '--vcs-enabled=false', directory];
  const { status, stdout, stderr } = spawnSync(biome, parameters, { cwd: directory });
  t.not(status, 0);
  t.match(`${stdout}${stderr}`, /noImportCycles/);
});
