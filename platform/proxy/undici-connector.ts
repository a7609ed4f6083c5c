import { isIP } from 'node:net';
import { type buildConnector, errors } from 'undici';
import type { HttpProxy } from './http-proxy.ts';
import type { Opening } from './opening.ts';
import { openThroughProxy } from './tunnel.ts';

export type ProxyConnectorOptions = {
  proxy: HttpProxy;
  /** Time until the connection can be used, handshakes included: milliseconds. */
  connectMs: number;
  /** Resolves a host to the one that the proxy connects to. Default: the host itself, which the proxy then resolves. */
  resolve?: (host: string, done: (error: Error | null, host: string) => void) => void;
  /** Certificates (PEM) to trust instead of the default authorities. */
  ca?: string | undefined;
};

/** Creates an undici connector that opens connections through a proxy. */
export function proxyConnector(options: ProxyConnectorOptions): buildConnector.connector {
  const { proxy, connectMs, resolve = (host, done) => done(null, host), ca } = options;
  return ({ hostname, protocol, port }, done) => {
    let opening: Opening | null = null;
    let isOver = false;
    const settle = (report: () => void): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      report();
    };
    const fail = (error: Error): void => settle(() => done(error, null));
    const timer = setTimeout(() => {
      fail(new errors.ConnectTimeoutError('No connection through the proxy in time'));
      opening?.destroy();
    }, connectMs);
    const isTls = protocol === 'https:';
    resolve(hostname, (error, host) => {
      if (error !== null) fail(error);
      if (isOver) return;
      const tls = {
        servername: isIP(hostname) === 0 ? hostname : '',
        ALPNProtocols: ['http/1.1'],
        ...(ca && { ca }),
      };
      opening = openThroughProxy(
        proxy,
        { host, port: Number(port) || (isTls ? 443 : 80), tls: isTls ? tls : null },
        {
          onOpen: (socket) => settle(() => done(null, socket)),
          onClosed: (cause) => fail(cause ?? new Error('The connection was closed')),
        },
      );
    });
  };
}
