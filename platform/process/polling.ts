/** Work that is looked for at intervals and when something wakes it, a piece at a time. */

export type PollingOptions = {
  everyMs: number;
  /** Does a piece of work. Returns true when more may be left, which is then done at once. */
  work(): Promise<boolean>;
  /** Is given what `work` rejects with; the work is tried again at the next poll. Must not throw. */
  onError(error: unknown): void;
};

export type Polling = {
  /** Looks for work without waiting for the next poll; while work is under way, once more after it. */
  wake(): void;
  /** Begins no further piece, and resolves when the one under way has ended; never rejects. */
  stop(): Promise<void>;
};

/** Polls for work until it is stopped, the first time after `everyMs`. Two pieces are never under way together. */
export function startPolling({ everyMs, work, onError }: PollingOptions): Polling {
  let isStopped = false;
  let isWorking = false;
  // Work may come while the last piece already finds none.
  let isWoken = false;
  let working: Promise<void> = Promise.resolve();

  async function workUntilDone(): Promise<void> {
    isWorking = true;
    try {
      let hasMore: boolean;
      do {
        isWoken = false;
        hasMore = await work();
      } while ((hasMore || isWoken) && !isStopped);
    } catch (error) {
      onError(error);
    } finally {
      isWorking = false;
    }
  }

  const poll = () => {
    if (!isStopped && !isWorking) working = workUntilDone();
  };
  const polling = setInterval(poll, everyMs);
  // The timer alone does not keep the process alive; the connections that the work needs do.
  polling.unref();
  return {
    wake: () => {
      isWoken = true;
      poll();
    },
    stop: async () => {
      isStopped = true;
      clearInterval(polling);
      await working;
    },
  };
}
