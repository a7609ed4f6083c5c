/** The change feed, as its writers see it: what changed in the records, noted in the transaction that changes them. */

export { createChangeAnnouncer } from './announce.ts';
export { readSinkLags, type SinkLag } from './lags.ts';
export { noteChange } from './note.ts';
