/** HTTP for every role: serving an app, reading bodies, health routes. */
export { bearerToken, incomingOf, outgoingOf, readBody } from './exchange.ts';
export { type HealthOptions, healthApp, healthRoutes } from './health.ts';
export { type HttpServer, Reply, type ServeOptions, serve } from './serve.ts';
