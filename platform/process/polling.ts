/** Work that is looked for when something wakes it, and when it is due: a piece at a time. */
import { WakeUp } from './wake-up.ts';

export type PollingOptions = {
  /** Does a piece of work. Returns when to look again, in milliseconds; 0: at once, as more may be left. */
  work(): Promise<number>;
  /** Is given what `work` rejects with; the work is tried again after `retryMs`. Must not throw. */
  onError(error: unknown): void;
  /** Overrides the wait after a failure. */
  retryMs?: number;
};

export type Polling = {
  /** Looks for work at once; while work is under way, once more after it. */
  wake(): void;
  /** Begins no further piece, and resolves when the one under way has ended; never rejects. */
  stop(): Promise<void>;
};

const RETRY_MS = 1_000;

/** Looks for work until it is stopped, the first time at once. Two pieces are never under way together. */
export function startPolling({ work, onError, retryMs = RETRY_MS }: PollingOptions): Polling {
  const wakeUp = new WakeUp();
  let isStopped = false;

  async function workOnce(): Promise<number> {
    try {
      return await work();
    } catch (error) {
      onError(error);
      return retryMs;
    }
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      const waitMs = await workOnce();
      // The timer alone does not keep the process alive; the connections that the work needs do.
      if (waitMs > 0 && !isStopped) await wakeUp.sleep(waitMs, { isRef: false });
    }
  }

  const running = run();
  return {
    wake: () => wakeUp.wake(),
    stop: async () => {
      isStopped = true;
      wakeUp.wake();
      await running;
    },
  };
}
