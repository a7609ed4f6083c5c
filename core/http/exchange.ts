import type { IncomingMessage, ServerResponse } from 'node:http';
import { AssayError } from '../errors.ts';

type NodeContext = { runtime?: { node?: { req?: IncomingMessage; res?: ServerResponse } } };

/** The Node request behind a web request of ours. */
export function incomingOf(request: Request): IncomingMessage {
  const incoming = (request as Request & NodeContext).runtime?.node?.req;
  if (incoming === undefined) throw new Error('The request did not come through core/http');
  return incoming;
}

/** The Node response that a web request of ours will be answered on. */
export function outgoingOf(request: Request): ServerResponse {
  const outgoing = (request as Request & NodeContext).runtime?.node?.res;
  if (outgoing === undefined) throw new Error('The request did not come through core/http');
  return outgoing;
}

/**
 * Reads a request body whole, as bytes.
 * @throws AssayError body_too_large as soon as more than `maxBytes` are announced or have come;
 *   client_closed_request when the client leaves in the middle
 */
export function readBody(request: Request, maxBytes: number): Promise<Buffer> {
  const incoming = incomingOf(request);
  const announced = Number(incoming.headers['content-length'] ?? 0);
  if (announced > maxBytes) return Promise.reject(tooLarge(incoming, maxBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        incoming.removeAllListeners('data');
        reject(tooLarge(incoming, maxBytes));
        return;
      }
      chunks.push(chunk);
    });
    const leave = () =>
      reject(new AssayError('client_closed_request', 'The client left before its request was whole'));
    incoming.once('end', () => {
      incoming.off('close', leave);
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
    });
    // A request that is cut off closes without an end; its error, if any, says no more.
    incoming.once('close', leave);
    incoming.once('error', () => {});
  });
}

/** How much of an oversized body is read and thrown away, so that the client gets to read the answer. */
const DRAIN_BYTES = 64 * 1024 * 1024;
const DRAIN_MS = 10_000;

function tooLarge(incoming: IncomingMessage, maxBytes: number): AssayError {
  drain(incoming);
  return new AssayError('body_too_large', `The request body is larger than the ${maxBytes} bytes allowed`);
}

/**
 * A client that is still sending when the socket closes sees a reset and never the 413: so the rest is read into
 * nothing for a while, within bounds.
 */
function drain(incoming: IncomingMessage): void {
  let left = DRAIN_BYTES;
  const giveUp = setTimeout(() => incoming.destroy(), DRAIN_MS);
  incoming.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) incoming.destroy();
  });
  giveUp.unref();
  const isThrough = () => clearTimeout(giveUp);
  incoming.once('end', isThrough).once('close', isThrough);
  incoming.resume();
}

/** The token of an `Authorization: Bearer …` value, or null. The scheme's case does not matter. */
export function bearerToken(header: string | null | undefined): string | null {
  if (header === null || header === undefined || header.length < 8) return null;
  if (header.slice(0, 7).toLowerCase() !== 'bearer ') return null;
  const token = header.slice(7).trim();
  return token === '' ? null : token;
}
