/** Processes that report themselves through Postgres: their state for `GET /v1/system`, and what other roles need to know. */

export type { GatewayFacts } from './facts.ts';
export { createOutboxReader } from './outbox-state.ts';
export { type ProcessRow, readFacts, selectLiveProcesses } from './read.ts';
export { reportProcess } from './report.ts';
