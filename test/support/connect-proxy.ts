/** A proxy on a local port that opens tunnels by CONNECT, and can be told to misbehave. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Test } from 'tap';

/** What is done with a request for a tunnel; by default it is opened. */
export type ProxyFault =
  | { kind: 'refuse'; status: number }
  /** Nothing is answered. */
  | { kind: 'hang' }
  /** The connection is closed, after these bytes. */
  | { kind: 'cut'; after: string }
  /** These bytes are sent in place of an answer, and the connection stays open. */
  | { kind: 'bytes'; bytes: string }
  /** The tunnel is opened, and cut with the first bytes that come through it. */
  | { kind: 'cut-tunnel' };

export type ConnectProxyOptions = {
  /** Where the hosts of this network are. All others are looked for on this machine, at the port asked for. */
  hosts?: Record<string, number>;
  /** `user:password` that it asks for. */
  credentials?: string;
  /** Makes it a proxy that is spoken to in TLS. */
  tls?: { cert: string; key: string };
};

export type ConnectProxy = {
  port: number;
  /** The authorities of all requests so far, and what they brought as Proxy-Authorization. */
  requests: { authority: string; authorization: string | null }[];
  /** Requests that were no CONNECT. */
  others: string[];
  fault(fault: ProxyFault | null): void;
};

/** Starts one; it ends with the test. */
export async function startConnectProxy(t: Test, options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const { hosts = {}, credentials, tls } = options;
  let fault: ProxyFault | null = null;
  const sockets = new Set<Socket>();
  const proxy: ConnectProxy = {
    port: 0,
    requests: [],
    others: [],
    fault: (next) => {
      fault = next;
    },
  };
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  server.on('request', ({ url }, response) => {
    proxy.others.push(url ?? '');
    response.writeHead(405).end();
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  server.on('connect', ({ url = '', headers }: IncomingMessage, socket: Socket) => {
    socket.on('error', () => {});
    const authorization = headers['proxy-authorization'] ?? null;
    proxy.requests.push({ authority: url, authorization });
    const expected =
      credentials === undefined ? null : `Basic ${Buffer.from(credentials).toString('base64')}`;
    if (expected !== null && authorization !== expected) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n');
      return;
    }
    if (fault !== null && fault.kind !== 'cut-tunnel') {
      misbehave(socket, fault);
      return;
    }
    const { hostname, port } = new URL(`http://${url}`);
    const host = hostname.replace(/^\[|\]$/g, '');
    const outer =
      hosts[host] === undefined ? connect(Number(port || 80), host) : connect(hosts[host], '127.0.0.1');
    sockets.add(outer);
    outer.on('close', () => sockets.delete(outer));
    outer.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    outer.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n');
      if (fault?.kind === 'cut-tunnel') {
        socket.once('data', () => socket.destroy());
        return;
      }
      socket.pipe(outer).pipe(socket);
      socket.on('close', () => outer.destroy());
      outer.on('close', () => socket.destroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy.port = (server.address() as AddressInfo).port;
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return proxy;
}

function misbehave(socket: Socket, fault: Exclude<ProxyFault, { kind: 'cut-tunnel' }>): void {
  if (fault.kind === 'refuse') socket.end(`HTTP/1.1 ${fault.status} No\r\ncontent-length: 2\r\n\r\nno`);
  if (fault.kind === 'cut') socket.end(fault.after);
  if (fault.kind === 'bytes') socket.write(fault.bytes);
}
