/** The outbox: log entries on the gateway's own disk, between the response and the store. */
export { AppendTimes } from './append-times.ts';
export { FAILING_OUTBOXES, FailingOutboxes, onFiles } from './failing.ts';
export { bytesBehind, bytesBelow, listOutboxes } from './layout.ts';
export {
  type OutboxEntry,
  type ReadLimits,
  type ReadResult,
  readInterrupted,
  readOutbox,
  removeOutbox,
  takeAbandonedOutbox,
  trimOutbox,
} from './reader.ts';
export { isSamePosition, type OutboxPosition } from './scan.ts';
export { type Outbox, openOutbox } from './writer.ts';
export { OutboxWrites } from './writes.ts';
