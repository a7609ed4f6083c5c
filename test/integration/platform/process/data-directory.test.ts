import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { makeDataDirectory } from '#platform/process/data-directory.ts';
import { runMain, sentences } from '../../../support/assay.ts';

const MODULE = new URL('../../../../platform/process/data-directory.ts', import.meta.url).href;
const NOBODY = 65_534;

const root = mkdtempSync(join(tmpdir(), 'assay-test-data-'));
t.teardown(() => rmSync(root, { recursive: true, force: true }));

t.test('a data directory is made with those above it', async (t) => {
  const path = join(root, 'not', 'yet');
  makeDataDirectory(path, 0o700);
  makeDataDirectory(path, 0o700);
  t.ok(existsSync(path));
});

t.test('a file where the data directory should be is named', async (t) => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  const reason = `${file} is not a directory`;
  t.throws(() => makeDataDirectory(file, 0o700), {
    message: `Cannot write to ${file} (DATA_DIR): ${reason}`,
  });
  const below = join(file, 'outbox');
  t.throws(() => makeDataDirectory(below, 0o700), {
    message: `Cannot write to ${below} (DATA_DIR): ${reason}`,
  });
  const run = runMain([], { GATEWAY_PORT: '0', API_PORT: '0', DATA_DIR: file });
  t.equal((await run.ended).code, 1);
  t.same(sentences(run.stderr()), [`Cannot write to ${file} (DATA_DIR): ${reason}`]);
});

t.test('a directory of another user is named with both users', async (t) => {
  const closed = join(root, 'closed');
  mkdirSync(closed);
  chmodSync(root, 0o755);
  chmodSync(closed, 0o500);
  const isRoot = process.getuid?.() === 0;
  const path = join(closed, 'run');
  const program = `import { makeDataDirectory } from ${JSON.stringify(MODULE)};
    try { makeDataDirectory(${JSON.stringify(path)}, 0o700); } catch ({ message }) { console.log(message); }`;
  const options = { encoding: 'utf8', ...(isRoot && { uid: NOBODY, gid: NOBODY }) } as const;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], options);
  t.match(
    stdout,
    isRoot
      ? /^Cannot write to .+\/run \(DATA_DIR\): user 65534 may not write to .+\/closed, which belongs to user 0\n$/
      : /may not write to .+\/closed/,
  );
});

t.test(
  'a data directory that the system does not let anybody make is refused at once',
  { skip: !existsSync('/proc/self') && 'this system has no /proc' },
  async (t) => {
    const run = runMain([], { GATEWAY_PORT: '0', API_PORT: '0', DATA_DIR: '/proc/assay' });
    // Where it hangs, it takes no signal either.
    const timer = setTimeout(() => run.process.kill('SIGKILL'), 20_000);
    t.equal((await run.ended).code, 1);
    clearTimeout(timer);
    t.match(sentences(run.stderr()), [
      /^Cannot write to \/proc\/assay \(DATA_DIR\): ENOENT: .+ '\/proc\/assay'$/,
    ]);
  },
);
