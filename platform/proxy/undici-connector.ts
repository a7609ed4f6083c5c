import { isIP } from 'node:net';
import { type buildConnector, errors } from 'undici';
import type { HttpProxy } from './http-proxy.ts';
import type { Opening } from './opening.ts';
import { openThroughProxy } from './tunnel.ts';

export type ProxyConnectorOptions = {
  proxy: HttpProxy;
  /** For everything until the connection can be used. */
  connectMs: number;
  /** What the proxy is to connect to for a host. Default: the host itself, which the proxy then resolves. */
  resolve?: (host: string, done: (error: Error | null, host: string) => void) => void;
  /** Certificates (PEM) to trust instead of the usual authorities. */
  ca?: string | undefined;
};

/** Opens connections for undici, through a proxy. */
export function proxyConnector(options: ProxyConnectorOptions): buildConnector.connector {
  const { proxy, connectMs, resolve = (host, done) => done(null, host), ca } = options;
  return ({ hostname, protocol, port }, done) => {
    let opening: Opening | null = null;
    let isOver = false;
    const over = (tell: () => void): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      tell();
    };
    const fail = (error: Error): void => over(() => done(error, null));
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
          onOpen: (socket) => over(() => done(null, socket)),
          onClosed: (cause) => fail(cause ?? new Error('The connection was closed')),
        },
      );
    });
  };
}
