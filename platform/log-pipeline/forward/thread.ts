/** Runs the forwarder in a thread of its own: reading the outbox and publishing from it take no time from calls. */
import { Worker } from 'node:worker_threads';
import type { LogLevel } from '../../config/mod.ts';
import type { NatsAddress } from '../../nats/mod.ts';
import type { Logger } from '../../observability/log.ts';
import { settlesWithin } from '../../process/deadline.ts';
import type { StoredPart } from './feed.ts';

/** The data that the thread is started with. */
export type ForwarderThreadData = {
  address: NatsAddress;
  /** The directory of the outboxes. */
  root: string;
  /** The outbox of this process. */
  ownId: string;
  /** Named in the log. */
  role: string;
  logLevel: LogLevel;
};

/** The report of the thread, once a second. */
export type ForwarderState = {
  /** Chunks that are published and not known to be in Postgres. */
  unconfirmed: number;
  /** Stored part of this process's own outbox; null: not known yet. */
  ownStored: StoredPart | null;
  /** Outboxes whose files failed when they were last tried. */
  failingOutboxes: number;
};

export type ForwarderThread = {
  readonly state: ForwarderState;
  /**
   * Waits until all of the closed outbox is stored and removed, but no longer than `deadlineMs`. What is left then is
   * forwarded by the next process with the same DATA_DIR. Resolves with whether nothing is left, but for outboxes whose files
   * fail, which the log names.
   */
  stop(deadlineMs: number): Promise<boolean>;
};

const RESTART_MS = 1_000;

/** Starts the thread, and starts it again if it dies: what it had published is then published anew. */
export function startForwarder(data: ForwarderThreadData, log: Logger): ForwarderThread {
  let state: ForwarderState = { unconfirmed: 0, ownStored: null, failingOutboxes: 0 };
  let isStopping = false;
  let worker: Worker;
  let ended: () => void;
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });

  const start = () => {
    worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: data });
    worker.on('message', (reported: ForwarderState) => {
      state = reported;
    });
    worker.on('error', (error) =>
      log.error({ error: error.message }, 'the forwarder failed; it is restarted'),
    );
    worker.once('exit', () => {
      if (isStopping) ended();
      else setTimeout(start, RESTART_MS).unref();
    });
  };
  start();

  return {
    get state() {
      return state;
    },
    stop: async (deadlineMs) => {
      isStopping = true;
      worker.postMessage('stop');
      if (await settlesWithin(end, deadlineMs)) return true;
      await worker.terminate();
      return false;
    },
  };
}
