/** HTTP/1.1 on a socket: requests as handlers see them, responses as they are written. */
export { ClientConnection, type ConnectionOptions } from './connection.ts';
export { Handshake } from './handshake.ts';
export type { BodyRoom } from './incoming-body.ts';
export { type BodySource, type BodyWriter, Reply, sendableOf } from './reply.ts';
export { innerRequest, rawHeadersOf, readBody, type ServerRequest, serverRequestOf } from './request.ts';
