/** Opens connections to one address. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Opens a connection; `onOpen` is called when it can be used, after the TLS handshake where there is one. */
export type Connect = (onOpen: () => void) => Socket;

/** Between two probes of a connection on which nothing is sent: notices a provider's host that is gone. */
const PROBE_MS = 60_000;

/** What opens connections to an origin: `https://host:port` or `http://host:port`. */
export function connectorTo(origin: string): Connect {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  const common = { host, noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS };
  if (protocol !== 'https:') return (onOpen) => connectTcp({ ...common, port: Number(port || 80) }, onOpen);
  // The last one spares the next connection half of its handshake.
  let session: Buffer | undefined;
  return (onOpen) => {
    const socket = connectTls(
      {
        ...common,
        port: Number(port || 443),
        servername: isIP(host) === 0 ? host : '',
        ALPNProtocols: ['http/1.1'],
        session,
      },
      onOpen,
    );
    socket.on('session', (latest) => {
      session = latest;
    });
    return socket;
  };
}
