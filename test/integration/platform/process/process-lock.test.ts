import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { lockWithin, tryLock } from '#platform/process/process-lock.ts';

const MODULE = new URL('../../../../platform/process/process-lock.ts', import.meta.url).href;
const DENO = fileURLToPath(new URL('../../../../node_modules/.bin/deno', import.meta.url));

/** Another process that takes the lock, says so, and holds it until it dies. */
async function holder(directory: string, path: string, runtime: 'node' | 'deno'): Promise<ChildProcess> {
  const program = join(directory, 'holder.mjs');
  writeFileSync(
    program,
    `import { tryLock } from ${JSON.stringify(MODULE)};
     console.log(tryLock(${JSON.stringify(path)}) === null ? 'refused' : 'taken');
     setInterval(() => {}, 1_000);`,
  );
  const [command, parameters] =
    runtime === 'deno' ? [DENO, ['run', '--allow-all', program]] : [process.execPath, [program]];
  const child = spawn(command, parameters, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [answer] = (await once(child.stdout, 'data')) as [Buffer];
  child.stdout.destroy();
  t.equal(answer.toString().trim(), 'taken');
  return child;
}

t.test('a process lock has one holder at a time, also within a process', async (t) => {
  const path = join(t.testdir(), 'lock');
  const lock = tryLock(path);
  t.ok(lock);
  t.equal(tryLock(path), null);
  lock?.release();
  lock?.release();
  const again = tryLock(path);
  t.ok(again, 'a released lock can be taken again');
  again?.release();
});

for (const runtime of ['node', 'deno'] as const) {
  t.test(`a lock dies with the ${runtime} process that holds it`, async (t) => {
    const directory = t.testdir();
    const path = join(directory, 'lock');
    const child = await holder(directory, path, runtime);
    t.equal(tryLock(path), null, 'held by the other process');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lock = tryLock(path);
    t.ok(lock, 'free as soon as it is dead');
    lock?.release();
  });
}

t.test('a waiter gets the lock when it is released, or gives up in time', async (t) => {
  const path = join(t.testdir(), 'lock');
  const first = tryLock(path);
  t.equal(await lockWithin(path, 60), null);
  setTimeout(() => first?.release(), 100);
  const second = await lockWithin(path, 5_000);
  t.ok(second);
  second?.release();
});

t.test('locking a file that is not a lock file is an error that names it', async (t) => {
  const path = join(t.testdir({ lock: 'x'.repeat(4_096) }), 'lock');
  t.throws(() => tryLock(path), { message: `Cannot take the lock ${path}: file is not a database` });
  const nowhere = join(t.testdirName, 'none', 'lock');
  t.throws(() => tryLock(nowhere), {
    message: `Cannot take the lock ${nowhere}: unable to open database file`,
  });
});
