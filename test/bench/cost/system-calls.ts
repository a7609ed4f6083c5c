/** System calls of another process, counted by strace. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { waitFor } from '../../support/assay.ts';

/**
 * Calls that depend on the machine rather than on the code: what V8 and the C library do for memory and threads, and turns of
 * the event loop, of which there are more the fewer events each finds.
 */
const NOT_COUNTED = new Set([
  'brk',
  'epoll_pwait',
  'epoll_wait',
  'futex',
  'madvise',
  'mmap',
  'mprotect',
  'munmap',
  'sched_yield',
]);

type Trace = { tracer: ChildProcess; said(): string };

/** @throws Error when there is no strace, or the system does not permit it */
async function attach(pid: number): Promise<Trace> {
  const parameters = ['-c', '-f', '-U', 'name,calls', '-p', String(pid)];
  const tracer = spawn('strace', parameters, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  tracer.stderr.on('data', (text: Buffer) => {
    said += text.toString();
  });
  let hasEnded = false;
  tracer.once('error', (error) => {
    said += error.message;
  });
  tracer.once('close', () => {
    hasEnded = true;
  });
  await waitFor('strace to attach', () => / attached/.test(said) || hasEnded);
  if (hasEnded) throw new Error(`Cannot trace: ${said.trim()}`);
  return { tracer, said: () => said };
}

async function detach({ tracer, said }: Trace): Promise<string> {
  const closed = once(tracer, 'close');
  tracer.kill('SIGINT');
  await closed;
  return said();
}

/** Reads the table, whose lines are `<name> <calls>`. */
function readTable(said: string): Map<string, number> {
  const lines = [...said.matchAll(/^\s*([a-z_]\w*)\s+(\d+)\s*$/gm)];
  const calls = new Map(lines.map(([, name, count]) => [name!, Number(count)]));
  if (!calls.delete('total')) throw new Error(`strace printed no table:\n${said}`);
  return calls;
}

/** Returns how many system calls a process makes while `work` runs, in all its threads, by their names. */
export async function countSystemCalls(
  pid: number,
  work: () => Promise<void>,
): Promise<ReadonlyMap<string, number>> {
  const trace = await attach(pid);
  try {
    await work();
  } catch (error) {
    await detach(trace);
    throw error;
  }
  const calls = readTable(await detach(trace));
  for (const name of NOT_COUNTED) calls.delete(name);
  return calls;
}

/**
 * Returns why system calls cannot be counted on this machine; false when they can. In CI a missing strace is a failure;
 * what a container does not permit cannot be installed.
 */
export async function systemCallsAreHidden(): Promise<string | false> {
  if (spawnSync('strace', ['--version']).status !== 0) {
    if (process.env.CI === 'true') return false;
    return 'strace is not on PATH: install it (Debian: apt-get install strace)';
  }
  // A process that is not strace's own child, as the gateway is none.
  const probed = spawn('sleep', ['60'], { stdio: 'ignore' });
  try {
    await detach(await attach(probed.pid!));
    return false;
  } catch (error) {
    return `this system permits no strace of another process: ${(error as Error).message}`;
  } finally {
    probed.kill('SIGKILL');
  }
}
