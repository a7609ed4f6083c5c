/** Processes that report themselves through Postgres, for `GET /v1/system`. */

export { createOutboxReader } from './outbox-state.ts';
export { type ProcessRow, selectLiveProcesses } from './read.ts';
export { reportProcess } from './report.ts';
