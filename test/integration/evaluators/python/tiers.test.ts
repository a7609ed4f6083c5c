import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import type { startSandbox as Start } from '../../../../evaluators/python/mod.ts';
import { checkEndings } from './support/check-endings.ts';
import { runPrograms } from './support/run-programs.ts';
import { brief, define, openSandbox, TIERS_HERE } from './support/sandbox.ts';

const texts = { input: 'input', output: 'output' };

t.test('the sandbox uses the best tier by default', async (t) => {
  const sandbox = await openSandbox(t);
  t.equal(sandbox.tier, TIERS_HERE[0]);
  t.equal(sandbox.why, process.getuid?.() === 0 ? null : 'chroot: it needs root');
});

t.test('a sandbox without a tier refuses every job, to be tried later', async (t) => {
  for (const options of [{ wantedTier: 'none' as const }, { python: '/nonexistent/python3' }]) {
    const sandbox = await openSandbox(t, options);
    t.equal(sandbox.tier, 'none');
    t.match(sandbox.why, /the tier "none" is set|ENOENT/);
    t.match(await sandbox.compile('x'), { ok: false, code: 'sandbox_unavailable' });
    const expected = { state: 'failed', code: 'sandbox_unavailable', retry: 'later' };
    t.match((await sandbox.evaluate({ code: 'x', ...texts })).outcome, expected);
    t.match(await sandbox.evaluateMany({ code: 'x', records: [texts, texts] }), [
      { outcome: expected },
      { outcome: expected },
    ]);
  }
});

t.test('a sandbox whose Python cannot be run has the tier none', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'assay-test-python-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const python = join(directory, 'python3');
  writeFileSync(python, '#!/bin/sh\necho "I am not Python" >&2; exit 3\n');
  chmodSync(python, 0o755);
  const sandbox = await openSandbox(t, { python });
  t.equal(sandbox.tier, 'none');
  t.match(sandbox.why, /I am not Python/);
});

const SOURCES = fileURLToPath(new URL('../../../../evaluators/python', import.meta.url));

/** Copies the sandbox with `line` of `file` replaced. The copy is inside the checkout, so that its imports of core resolve. */
async function changed(t: Test, file: string, line: string, replacement: string): Promise<typeof Start> {
  const directory = join(t.testdir(), 'python');
  cpSync(SOURCES, directory, { recursive: true });
  const path = join(directory, file);
  const source = readFileSync(path, 'utf8');
  t.equal(source.split(`${line}\n`).length, 2, `${file} has one ${line.trim()}`);
  writeFileSync(path, source.replace(line, line.replace(/\S.*/, replacement)));
  const { startSandbox } = (await import(pathToFileURL(join(directory, 'mod.ts')).href)) as {
    startSandbox: typeof Start;
  };
  return startSandbox;
}

/** Lines that are removed, and the escape that the self-test then finds first, since nothing else stops it. */
const MISSING: [file: string, line: string, finds: RegExp, replacement?: string][] = [
  // Without the filter Landlock still refuses to read and to list, which are tried first; or the file does not exist.
  [
    'zygote.py',
    '        self.filter.install()',
    /code in it (looks at a path|reads a file: FileNotFoundError)/,
  ],
  [
    'lockdown.py',
    '    limit(resource.RLIMIT_AS, address_space_bytes, address_space_bytes)',
    /code in it takes too much memory/,
  ],
  [
    'seccomp.py',
    '        refuse,',
    /code in it reads the clock of another process/,
    '(RETURN, 0, 0, ALLOW),',
  ],
  ['evaluation.py', '    harness.clear()', /code in it learns where it runs/],
];

for (const [file, line, finds, replacement = 'pass'] of MISSING) {
  t.test(`the self-test finds an escape when this line is missing: ${line.trim()}`, async (t) => {
    const startSandbox = await changed(t, file, line, replacement);
    for (const wantedTier of TIERS_HERE) {
      const sandbox = await openSandbox(t, { wantedTier }, startSandbox);
      t.equal(sandbox.tier, 'none');
      t.match(sandbox.why, finds);
    }
  });
}

t.test('a kernel without system call filters gives the tier none at once', async (t) => {
  const line = 'PR_SET_SECCOMP, MODE_FILTER = 22, 2';
  const startSandbox = await changed(t, 'seccomp.py', line, 'PR_SET_SECCOMP, MODE_FILTER = 22, 99');
  const startedAt = performance.now();
  const sandbox = await openSandbox(t, {}, startSandbox);
  t.equal(sandbox.tier, 'none');
  for (const tier of TIERS_HERE) {
    t.match(sandbox.why, `${tier}: a child cannot lock itself down: [Errno 22] seccomp is refused`);
  }
  t.ok(performance.now() - startedAt < 30_000);
});

t.test('every escape is stopped on a kernel without Landlock as well', async (t) => {
  const line = '    return max(0, LIBC.syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), LANDLOCK_VERSION))';
  checkEndings(t, await runPrograms('process', await changed(t, 'lockdown.py', line, 'return 0')), 'process');
});

t.test('a sandbox starts in a directory whose path is too long for a socket', async (t) => {
  const long = mkdtempSync(join(tmpdir(), 'x'.repeat(150)));
  t.teardown(() => rmSync(long, { recursive: true }));
  const sandbox = await openSandbox(t, { directory: long });
  t.equal(brief((await sandbox.evaluate({ code: define('return 1'), ...texts })).outcome), 1);
});
