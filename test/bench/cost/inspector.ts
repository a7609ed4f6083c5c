/** The inspector of another Node process, opened from outside: production code needs no hook for it. */
import { once } from 'node:events';
import { waitFor } from '../../support/assay.ts';

export type Inspector = {
  /** Runs a function that refers to nothing outside itself, and returns its result, which must be JSON. */
  evaluate<T>(work: () => T | Promise<T>): Promise<T>;
  close(): void;
};

/** Set in NODE_OPTIONS, it lets `openInspector` open the inspector on a free port rather than on 9229. */
export const INSPECTABLE = '--inspect-port=0';

type Answer = {
  id: number;
  error?: { message: string };
  result?: { result: { value?: unknown }; exceptionDetails?: { exception?: { description?: string } } };
};

function resultOf({ error, result }: Answer): unknown {
  const failure = error?.message ?? result?.exceptionDetails?.exception?.description;
  if (failure !== undefined) throw new Error(`The inspected process failed: ${failure}`);
  return result?.result.value;
}

/**
 * Opens the inspector of a process that runs with `INSPECTABLE`, by SIGUSR1.
 * @param stderr what the process has said so far: the inspector's address is part of it
 */
export async function openInspector(pid: number, stderr: () => string): Promise<Inspector> {
  const findAddress = () => /Debugger listening on (ws:\S+)/.exec(stderr())?.[1];
  process.kill(pid, 'SIGUSR1');
  await waitFor('the inspector to listen', () => findAddress() !== undefined);
  const socket = new WebSocket(findAddress()!);
  await once(socket, 'open');
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    try {
      asked?.resolve(resultOf(answer));
    } catch (error) {
      asked?.reject(error);
    }
  });
  socket.addEventListener('close', () => {
    for (const asked of waiting.values()) asked.reject(new Error('The inspected process is gone'));
  });
  let last = 0;
  return {
    evaluate: <T>(work: () => T | Promise<T>) => {
      last += 1;
      const asked = Promise.withResolvers<unknown>();
      waiting.set(last, asked);
      const params = { expression: `(${work})()`, returnByValue: true, awaitPromise: true };
      socket.send(JSON.stringify({ id: last, method: 'Runtime.evaluate', params }));
      return asked.promise as Promise<T>;
    },
    close: () => socket.close(),
  };
}
