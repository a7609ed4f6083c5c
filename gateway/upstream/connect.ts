/** Opens connections to one address. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Who waits for a connection. One of the two is called, once. */
export type OpeningHearing = {
  /** It can be used: after the TLS handshake where there is one. */
  onOpen(socket: Socket): void;
  /** It closed before that. */
  onClosed(error: Error | null): void;
};

/** A connection that is being opened. */
export type Opening = { destroy(): void };

/** Begins to open a connection. */
export type Connect = (hear: OpeningHearing) => Opening;

/** Between two probes of a connection on which nothing is sent: notices a provider's host that is gone. */
const PROBE_MS = 60_000;

/** Makes what opens connections to an origin: `https://host:port` or `http://host:port`. */
export function connectorTo(origin: string): Connect {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  const common = { host, noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS };
  if (protocol !== 'https:')
    return (hear) => whenOpen(connectTcp({ ...common, port: Number(port || 80) }), 'connect', hear);
  // The last one spares the next connection half of its handshake.
  let session: Buffer | undefined;
  return (hear) => {
    const socket = connectTls({
      ...common,
      port: Number(port || 443),
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      session,
    });
    socket.on('session', (latest) => {
      session = latest;
    });
    return whenOpen(socket, 'secureConnect', hear);
  };
}

/** Tells how the opening of a socket ends. */
function whenOpen(socket: Socket, event: 'connect' | 'secureConnect', hear: OpeningHearing): Opening {
  let error: Error | null = null;
  const onError = (cause: Error): void => {
    error = cause;
  };
  const onClose = (): void => hear.onClosed(error);
  socket.once('error', onError).once('close', onClose);
  socket.once(event, () => {
    socket.off('error', onError).off('close', onClose);
    hear.onOpen(socket);
  });
  return socket;
}
