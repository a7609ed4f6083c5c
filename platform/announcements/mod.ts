/** Capabilities that running processes announce to other roles through Postgres. */
export { announce } from './announce.ts';
export type { GatewayFacts } from './facts.ts';
export { readAnnounced } from './read.ts';
