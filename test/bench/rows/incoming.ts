/** Records that come in while a benchmark reads: ingest's own batches, from a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type Incoming = {
  /** Ends it; returns the records a second that it has stored. */
  stop(): Promise<number>;
};

/** Begins to store this many records of an organization a second. */
export function startIncoming(url: string, organizationId: string, perSecond: number): Incoming {
  const path = fileURLToPath(new URL('./incoming-process.ts', import.meta.url));
  const child = fork(path, [url, organizationId, String(perSecond)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  let ended: Promise<number> | null = null;
  async function end(): Promise<number> {
    const told = once(child, 'message') as Promise<[number]>;
    child.send('stop');
    const [stored] = await told;
    if (child.exitCode === null) await once(child, 'exit');
    return Math.round(stored);
  }
  return {
    stop: () => {
      ended ??= end();
      return ended;
    },
  };
}
