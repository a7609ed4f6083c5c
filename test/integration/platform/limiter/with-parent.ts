/** Processes of a test that end when it does, however it does: one that is killed cannot end them itself. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs a program of this folder, which calls `endWithParent`. What it says on stderr is the test's. */
export function startProgram(name: string, args: readonly string[]): ChildProcess {
  const program = fileURLToPath(new URL(name, import.meta.url));
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** Ends this process with the one that has started it. */
export function endWithParent(): void {
  process.once('disconnect', () => process.exit());
  // The channel itself keeps nobody alive.
  process.channel?.unref();
}
