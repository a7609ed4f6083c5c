/** What running processes can do, as they tell it to the others through Postgres. */
export { announce } from './announce.ts';
export type { GatewayFacts } from './facts.ts';
export { readAnnounced } from './read.ts';
