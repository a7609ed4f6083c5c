/** What a test starts ends with it, also when the test is killed and cannot see to it. */
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Waits for the end of its stdin, which comes when the process at the other end is gone, however it went. */
const SCRIPT = `read -r _
kill -s "$1" "$2" 2>/dev/null
[ -n "$3" ] || exit 0
tries=0
while kill -0 "$2" 2>/dev/null && [ "$tries" -lt 600 ]; do tries=$((tries + 1)); sleep 0.1; done
rm -rf "$3"`;

export type Tethered = {
  /** Undefined, as of a process that could not be started: nothing is to be done. */
  pid: number | undefined;
  /** Settles when that process has ended: from then on its id may be another one's. */
  ended: Promise<unknown>;
  signal: 'TERM' | 'QUIT' | 'KILL';
  /** Removed when the process has ended, or after a minute. */
  directory?: string;
};

/**
 * Sends `signal` to a process when this one is gone. By a shell of its own, which outlives this process, and a signal to
 * the whole group, as a Ctrl-C is one.
 */
export function tether({ pid, ended, signal, directory = '' }: Tethered): void {
  if (pid === undefined) return;
  const shell = spawn('sh', ['-c', SCRIPT, 'tether', signal, String(pid), directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  // This process would wait for the pipe. It is a socket, whatever its type says, and can be told not to.
  (shell.stdin as unknown as Socket).unref();
  void ended.then(() => shell.kill('SIGKILL'));
}
