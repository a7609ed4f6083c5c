/** Opens connections to one address, directly or through a proxy. */
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import {
  type HttpProxy,
  type Opening,
  type OpeningHandler,
  openThroughProxy,
  PROBE_MS,
  whenOpen,
} from '../proxy/mod.ts';

/** Opens connections to one address. */
export type Connector = {
  /** True when the connections lead through a proxy. */
  isProxied: boolean;
  /** Begins to open a connection. */
  open(handler: OpeningHandler): Opening;
};

/**
 * Creates the connector of an origin, which is `https://host:port` or `http://host:port`.
 * @param proxy null: direct connections
 */
export function connectorTo(origin: string, proxy: HttpProxy | null): Connector {
  const { protocol, hostname, port } = new URL(origin);
  const isTls = protocol === 'https:';
  const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (isTls ? 443 : 80) };
  // The latest TLS session spares the next connection half of its handshake.
  let session: Buffer | undefined;
  const onSession = (latest: Buffer): void => {
    session = latest;
  };
  const tls = () => ({
    servername: isIP(target.host) === 0 ? target.host : '',
    ALPNProtocols: ['http/1.1'],
    session,
  });
  if (proxy !== null) {
    return {
      isProxied: true,
      open: (handler) =>
        openThroughProxy(proxy, { ...target, tls: isTls ? tls() : null, onSession }, handler),
    };
  }
  const options = { ...target, noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS };
  return {
    isProxied: false,
    open: (handler) => {
      const socket = isTls ? connectTls({ ...options, ...tls() }) : connectTcp(options);
      if (isTls) socket.on('session', onSession);
      whenOpen(socket, isTls ? 'secureConnect' : 'connect', handler);
      return socket;
    },
  };
}
