import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type TcpProxy = {
  /** The target's url, by way of the proxy. */
  url: string;
  /** Ends all connections and refuses new ones, as a stopped server does. */
  cut(): Promise<void>;
  /** Lets connections through again. */
  restore(): Promise<void>;
  /** Keeps the connections that are there, and refuses new ones. */
  refuse(): void;
  /** Keeps connections open, and lets nothing through: a server that hangs, or a line that is dead. */
  freeze(): void;
  /** Lets through what has waited since `freeze`. */
  thaw(): void;
  /** The connections that are there lead nowhere any more, and neither end is told; new ones are as good as ever. */
  strand(): void;
  close(): Promise<void>;
};

/** A door between a client and a real server, to be shut in tests: an outage without stopping the server. */
export async function tcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createServer((inner) => {
    const outer = connect(Number(port), hostname);
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (frozen) from.pause();
    }
  });
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(own);
  const cut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return {
    url: url.href,
    cut,
    restore: () => listen(own),
    refuse() {
      server.close();
    },
    freeze() {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    strand() {
      for (const socket of sockets) {
        socket.unpipe();
        socket.removeAllListeners('close');
        socket.pause();
      }
    },
    close: async () => {
      if (server.listening) await cut();
    },
  };
}
