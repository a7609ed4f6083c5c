/**
 * Resends a request that was lost on a kept connection. A server may close an idle connection at the moment at which the next
 * request is sent: that request was never read, and no timer on either side can rule the race out.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';

/** The number of requests that a connection has carried, and the bytes received when the last of them was sent. */
type Use = { requests: number; receivedBytes: number };

const uses = new WeakMap<Socket, Use>();
const lostRequests = new WeakSet<object>();

subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = message as { socket: Socket };
  const use = uses.get(socket);
  if (use === undefined) return;
  use.requests += 1;
  use.receivedBytes = socket.bytesRead;
});

/** Wraps a connector, so that `requestOrResend` recognizes the connections that it opens. */
export function watchReuse(connect: buildConnector.connector): buildConnector.connector {
  return (target, done) =>
    connect(target, (...result) => {
      const [error, socket] = result;
      if (error === null) watch(socket);
      done(...result);
    });
}

function watch(socket: Socket): void {
  const use: Use = { requests: 0, receivedBytes: 0 };
  uses.set(socket, use);
  // Added before undici's own listener, which fails the request with the same error.
  socket.on('error', (error) => {
    if (use.requests > 1 && socket.bytesRead === use.receivedBytes) lostRequests.add(error);
  });
}

/**
 * Sends a request on a kept connection. A request that fails because its connection broke is sent once more, on a
 * connection of its own, if the connection had carried a request before and no byte of the response has arrived.
 *
 * The server may still have read such a request, if it died while handling it. Callers must be ready to send the request
 * again anyway, as evaluations are: theirs fails with a code that has it tried again some seconds later.
 * @param dispatchers.kept reuses connections; its connector comes from `watchReuse`
 * @param dispatchers.fresh opens a connection for each request
 * @throws the errors of undici
 */
export async function requestOrResend(
  { kept, fresh }: { kept: Dispatcher; fresh: Dispatcher },
  request: Dispatcher.RequestOptions,
): Promise<Dispatcher.ResponseData> {
  try {
    return await kept.request(request);
  } catch (error) {
    if (typeof error !== 'object' || error === null || !lostRequests.has(error)) throw error;
    return await fresh.request(request);
  }
}
