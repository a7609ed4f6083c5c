/** Connections through a proxy (RFC 9110, section 9.3.6): after CONNECT the bytes are those of the target. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { HttpProxy } from './http-proxy.ts';
import { type Opening, type OpeningHandler, whenOpen } from './opening.ts';
import { ProxyError } from './proxy-error.ts';

export type TunnelTarget = {
  /** An address, or a name, which the proxy resolves. */
  host: string;
  port: number;
  /** TLS to the target, inside the tunnel; null: none. */
  tls: Pick<ConnectionOptions, 'servername' | 'ALPNProtocols' | 'session' | 'ca'> | null;
  /** Called with every TLS session that can be resumed. */
  onSession?: (session: Buffer) => void;
};

/** Time between TCP keep-alive probes of a silent connection, which notice a host that is gone. */
export const PROBE_MS = 60_000;
/** Largest response to CONNECT that is read. Proxies accept in some hundred bytes, and refuse with a page. */
const MAX_HEAD_BYTES = 16 * 1024;
const END_OF_HEAD = '\r\n\r\n';
const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [^\r\n]*)?\r\n/;
const PROXY_AUTHENTICATION_REQUIRED = 407;

/**
 * Opens a connection through a proxy. There is no time limit: the caller destroys an opening that takes too long. Failures
 * before the target is reached are ProxyErrors.
 */
export function openThroughProxy(proxy: HttpProxy, target: TunnelTarget, handler: OpeningHandler): Opening {
  const { host, port, isTls } = proxy;
  const options = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS };
  const socket = isTls
    ? connectTls({ ...options, servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['http/1.1'] })
    : connectTcp(options);
  whenOpen(socket, isTls ? 'secureConnect' : 'connect', {
    onOpen: () =>
      requestTunnel(socket, proxy, target, {
        onOpen: () => (target.tls === null ? handler.onOpen(socket) : secure(socket, target, handler)),
        onClosed: handler.onClosed,
      }),
    onClosed: (cause) => handler.onClosed(new ProxyError('the proxy could not be reached', { cause })),
  });
  return socket;
}

function requestTunnel(
  socket: Socket,
  proxy: HttpProxy,
  target: TunnelTarget,
  handler: OpeningHandler,
): void {
  let head = '';
  let cause: Error | null = null;
  const noteError = (error: Error): void => {
    cause = error;
  };
  const stopListening = (): void => {
    socket.off('data', read).off('end', end).off('close', end);
  };
  const fail = (error: ProxyError): void => {
    stopListening();
    socket.destroy();
    handler.onClosed(error);
  };
  const end = (): void => fail(new ProxyError('the proxy closed the connection', { cause }));
  const read = (piece: Buffer): void => {
    head += piece.toString('latin1');
    const at = head.indexOf(END_OF_HEAD);
    const status = Number(STATUS_LINE.exec(head)?.[1] ?? 0);
    if (at < 0 && head.length <= MAX_HEAD_BYTES) return;
    // In TLS and in HTTP the client speaks first: bytes after the head cannot come from the target.
    const isOpen = at >= 0 && status >= 200 && status < 300 && at + END_OF_HEAD.length === head.length;
    if (!isOpen) {
      fail(refusal(status, proxy));
      return;
    }
    stopListening();
    socket.off('error', noteError);
    handler.onOpen(socket);
  };
  socket.on('data', read).once('end', end).once('close', end).once('error', noteError);
  const authority = `${isIP(target.host) === 6 ? `[${target.host}]` : target.host}:${target.port}`;
  const credentials = proxy.authorization === null ? '' : `proxy-authorization: ${proxy.authorization}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credentials}\r\n`);
}

/** @param status 0: the response has no valid status line */
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

/** Performs the TLS handshake with the target. */
function secure(socket: Socket, { host, tls, onSession }: TunnelTarget, handler: OpeningHandler): void {
  // The inner socket emits the errors of the outer one too.
  socket.on('error', () => {});
  // Without a server name the certificate is checked for `host`; without both, it would be checked for the proxy's host.
  const inner = connectTls({ host, ...tls, socket });
  if (onSession !== undefined) inner.on('session', onSession);
  whenOpen(inner, 'secureConnect', handler);
}
