/** What running processes can do, as they tell it to the others through Postgres. */
export { type Announcement, type AnnounceOptions, announce } from './announce.ts';
export type { EvaluatorsFacts, Facts, GatewayFacts, ProviderFacts } from './facts.ts';
export { readAnnounced } from './read.ts';
