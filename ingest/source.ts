/** Where ingest gets log entries from. */
import type { DrainOptions } from './drain.ts';
import type { BatchStoreOptions } from './store-batch.ts';

/** A running source of log entries. */
export type Source = {
  /** Rejects while the source is unavailable. */
  check(): Promise<unknown>;
  /** Outboxes of this machine whose files failed when they were last tried; 0 of a source that reads none. */
  failingOutboxes(): number;
  /** Ends the source once the entries in progress are stored. */
  stop(): Promise<void>;
};

/** Options of every source: how it stores, and whom it tells. */
export type SourceOptions = BatchStoreOptions & Pick<DrainOptions, 'onStored' | 'onPace'>;
