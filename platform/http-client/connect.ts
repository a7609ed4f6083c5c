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
  /**
   * Begins to open a connection.
   * @param onData called with the bytes that arrive once it is open
   */
  open(handler: OpeningHandler, onData: (piece: Buffer) => void): Opening;
};

/** Memory that every socket reads into: what came is taken out before another one reads. */
const LANDING = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Makes a socket pass on what it reads without a stream between: for a small piece a fifth of what a read costs (decision 0003).
 * Each piece has memory of its own, so that none keeps alive more than its bytes.
 */
function readTo(onData: (piece: Buffer) => void) {
  return {
    buffer: LANDING,
    callback: (bytes: number): boolean => {
      const piece = Buffer.allocUnsafeSlow(bytes);
      LANDING.copy(piece, 0, 0, bytes);
      onData(piece);
      return true;
    },
  };
}

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
      open: ({ onOpen, onClosed }, onData) =>
        openThroughProxy(
          proxy,
          { ...target, tls: isTls ? tls() : null, onSession },
          {
            onOpen: (socket) => {
              socket.on('data', onData);
              onOpen(socket);
            },
            onClosed,
          },
        ),
    };
  }
  const options = { ...target, noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS };
  return {
    isProxied: false,
    open: (handler, onData) => {
      const reading = { ...options, onread: readTo(onData) };
      const socket = isTls ? connectTls({ ...reading, ...tls() }) : connectTcp(reading);
      if (isTls) socket.on('session', onSession);
      whenOpen(socket, isTls ? 'secureConnect' : 'connect', handler);
      return socket;
    },
  };
}
