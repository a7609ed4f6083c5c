/** The compiled provider as a process of its own (native/provider.c). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** What a provider has answered until its end. */
export type Answered = { plainAnswers: number; streams: number; refused: number };

export type NativeProvider = {
  port: number;
  pid: number;
  /** Ends it, and returns what it has answered. */
  stop(): Promise<Answered>;
};

/** Starts it on a free port. */
export async function startNativeProvider(program: string): Promise<NativeProvider> {
  const child = spawn(program, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const readLine = async () => {
    const { value } = await lines.next();
    if (value === undefined) throw new Error('The provider ended without a word; its message is above');
    return JSON.parse(value);
  };
  const { port } = (await readLine()) as { port: number };
  return {
    port,
    pid: child.pid!,
    async stop() {
      const exited = child.exitCode === null ? once(child, 'exit') : null;
      child.kill('SIGTERM');
      const answered = (await readLine()) as Answered;
      await exited;
      return answered;
    },
  };
}
