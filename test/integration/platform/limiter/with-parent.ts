/** Child processes of a test that exit when the test does, even when it is killed and cannot stop them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs a program of this folder, which calls `endWithParent`. Its stderr is the test's. */
export function startProgram(name: string, args: readonly string[]): ChildProcess {
  const program = fileURLToPath(new URL(name, import.meta.url));
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** Makes this process exit when its parent does. */
export function endWithParent(): void {
  process.once('disconnect', () => process.exit());
  // The channel itself must not keep the process alive.
  process.channel?.unref();
}
