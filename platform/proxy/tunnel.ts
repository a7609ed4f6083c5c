/** Connections through a proxy (RFC 9110, section 9.3.6): CONNECT, and then the bytes are those of the other side. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { HttpProxy } from './http-proxy.ts';
import { type Opening, type OpeningHandler, whenOpen } from './opening.ts';
import { ProxyError } from './proxy-error.ts';

export type TunnelTarget = {
  /** A name, which the proxy resolves, or an address. */
  host: string;
  port: number;
  /** The TLS to the other side, through the tunnel; null: none. */
  tls: Pick<ConnectionOptions, 'servername' | 'ALPNProtocols' | 'session' | 'ca'> | null;
  /** Called with each TLS session that can be resumed. */
  onSession?: (session: Buffer) => void;
};

/** Between two probes of a connection on which nothing is sent: notices a host that is gone. */
export const PROBE_MS = 60_000;
/** Proxies answer in some hundred bytes, and refuse with a page, of which no more than this is waited for. */
const MAX_HEAD_BYTES = 16 * 1024;
const END_OF_HEAD = '\r\n\r\n';
const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [^\r\n]*)?\r\n/;
const PROXY_AUTHENTICATION_REQUIRED = 407;

/**
 * Opens a connection through a proxy. It has no time limit of its own: whoever waits destroys it. What goes wrong before
 * the other side is reached is told as a ProxyError.
 */
export function openThroughProxy(proxy: HttpProxy, target: TunnelTarget, handler: OpeningHandler): Opening {
  const { host, port, isTls } = proxy;
  const options = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS };
  const socket = isTls
    ? connectTls({ ...options, servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['http/1.1'] })
    : connectTcp(options);
  whenOpen(socket, isTls ? 'secureConnect' : 'connect', {
    onOpen: () =>
      askForTunnel(socket, proxy, target, {
        onOpen: () => (target.tls === null ? handler.onOpen(socket) : secure(socket, target, handler)),
        onClosed: handler.onClosed,
      }),
    onClosed: (cause) => handler.onClosed(new ProxyError('the proxy could not be reached', { cause })),
  });
  return socket;
}

function askForTunnel(socket: Socket, proxy: HttpProxy, target: TunnelTarget, handler: OpeningHandler): void {
  let head = '';
  let cause: Error | null = null;
  const noteError = (error: Error): void => {
    cause = error;
  };
  const leave = (): void => {
    socket.off('data', read).off('end', end).off('close', end);
  };
  const fail = (error: ProxyError): void => {
    leave();
    socket.destroy();
    handler.onClosed(error);
  };
  const end = (): void => fail(new ProxyError('the proxy closed the connection', { cause }));
  const read = (piece: Buffer): void => {
    head += piece.toString('latin1');
    const at = head.indexOf(END_OF_HEAD);
    const status = Number(STATUS_LINE.exec(head)?.[1] ?? 0);
    if (at < 0 && head.length <= MAX_HEAD_BYTES) return;
    // Who asks speaks first in TLS and in HTTP: whatever follows the head comes from nobody that was asked.
    const isOpen = at >= 0 && status >= 200 && status < 300 && at + END_OF_HEAD.length === head.length;
    if (!isOpen) {
      fail(refusal(status, proxy));
      return;
    }
    leave();
    socket.off('error', noteError);
    handler.onOpen(socket);
  };
  socket.on('data', read).once('end', end).once('close', end).once('error', noteError);
  const authority = `${isIP(target.host) === 6 ? `[${target.host}]` : target.host}:${target.port}`;
  const credentials = proxy.authorization === null ? '' : `proxy-authorization: ${proxy.authorization}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credentials}\r\n`);
}

/** @param status 0: there is none, or it came with something else than a head */
function refusal(status: number, proxy: HttpProxy): ProxyError {
  if (status === PROXY_AUTHENTICATION_REQUIRED) {
    const what =
      proxy.authorization === null
        ? 'asks for a user name and a password'
        : 'refused the user name and the password';
    return new ProxyError(`the proxy ${what}`, { status });
  }
  return status >= 300
    ? new ProxyError(`the proxy refused the connection with status ${status}`, { status })
    : new ProxyError('the proxy sent something else than an answer to CONNECT');
}

/** Does the TLS handshake with the other side. */
function secure(socket: Socket, { host, tls, onSession }: TunnelTarget, handler: OpeningHandler): void {
  // The outer socket's errors are the inner one's, which tells them.
  socket.on('error', () => {});
  // The certificate must be for the host where there is no server name; without either, for the proxy's.
  const inner = connectTls({ host, ...tls, socket });
  if (onSession !== undefined) inner.on('session', onSession);
  whenOpen(inner, 'secureConnect', handler);
}
