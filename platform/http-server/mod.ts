/** HTTP for every role: serving an app, reading bodies, health routes. */

export { answerHealth, type HealthOptions, healthRoutes } from '../observability/health.ts';
export { createBodySlots, watchBodies } from './body-room.ts';
export { readAcceptEncoding } from './compression/mod.ts';
export { warningBound, watchConnections } from './connections.ts';
export { bearerToken, onlyCredential, requireSingleCredentials } from './credentials.ts';
export {
  type BodyRoom,
  type BodySource,
  type BodyWriter,
  innerRequest,
  Reply,
  rawHeadersOf,
  readBody,
  type ServerRequest,
  serverRequestOf,
} from './exchange/mod.ts';
export { type KnownPorts, notFoundSentence } from './other-port.ts';
export { serve } from './serve.ts';
