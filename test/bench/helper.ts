/** Processes that work beside a benchmark until it stops them, so that what they use is not its own. */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { spawnNode } from './gateway/process.ts';

/** A running helper, which is ended at the end of its scope. */
export type Helper<Result> = AsyncDisposable & {
  pid: number;
  /** Ends it; returns its result. May be called again. */
  stop(): Promise<Result>;
};

/** Messages of a helper: that it has begun, something on the way, and at last its result. */
type Message = { kind: 'ready' } | { kind: 'note'; note: unknown } | { kind: 'result'; result: unknown };

/** The work of a helper, which it ends when `stopping` is aborted. `ready` says that it has begun. */
export type Work = (edge: {
  stopping: AbortSignal;
  ready(): void;
  note(note: unknown): void;
}) => Promise<unknown>;

/** Does the work of a helper, in its own process. */
export async function help(work: Work): Promise<void> {
  const stopping = new AbortController();
  process.once('message', () => stopping.abort());
  // The benchmark is gone.
  process.once('disconnect', () => process.exit());
  const send = (message: Message) => process.send?.(message);
  const result = await work({
    stopping: stopping.signal,
    ready: () => send({ kind: 'ready' }),
    note: (note) => send({ kind: 'note', note }),
  });
  process.send?.({ kind: 'result', result } satisfies Message, () => process.exit());
}

/**
 * Starts a script that calls `help`. Returns once it is ready.
 * @throws Error when it ends before
 */
export async function startHelper<Result, Note = never>(
  script: URL,
  args: readonly string[],
  onNote: (note: Note) => void = () => {},
): Promise<Helper<Result>> {
  const child = spawnNode([fileURLToPath(script), ...args], { ipc: true });
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Result>();
  // `stop` tells; until then nobody listens.
  ended.promise.catch(() => {});
  child.on('message', (message: Message) => {
    if (message.kind === 'ready') ready.resolve();
    else if (message.kind === 'note') onNote(message.note as Note);
    else ended.resolve(message.result as Result);
  });
  const exited = once(child, 'exit').then(() => {
    const error = new Error(`A helper of the benchmark ended by itself: ${script.pathname}`);
    ready.reject(error);
    ended.reject(error);
  });
  await ready.promise;
  async function stop(): Promise<Result> {
    if (child.connected) child.send('stop');
    const result = await ended.promise;
    await exited;
    return result;
  }
  return {
    pid: child.pid!,
    stop,
    async [Symbol.asyncDispose]() {
      // `stop` tells of errors; here, one would hide the error that ends the scope.
      await stop().catch(() => {});
    },
  };
}
