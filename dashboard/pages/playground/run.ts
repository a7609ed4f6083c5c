/** A call of a column, while it runs and when it has ended. */
import type { RequestRow } from '#core/contracts/rows.ts';
import type { ApiFailure } from '../../client/call.ts';

export type Run = {
  /** `kept`: the whole answer, or what came of it, is with the worker. */
  phase: 'running' | 'kept' | 'failed';
  isStopped: boolean;
  requestId: string | null;
  status: number;
  /** The text while it runs, in pieces: each is laid out once. */
  pieces: readonly string[];
  /** Milliseconds to the first byte of a stream, and to the end. */
  firstMs: number | null;
  totalMs: number | null;
  failure: ApiFailure | null;
  /** Of the logged request; null: it is not stored yet. */
  row: RequestRow | null;
};
