/**
 * A way to Postgres that takes the organization out of every statement of the role `assay_api`, so that only row-level
 * security keeps organizations apart: a statement that forgot its predicate, as a fault would have it.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Unconfined = {
  /** The database's url, by way of it. */
  url: string;
  /** The number of predicates that were taken out. */
  count(): number;
  close(): Promise<void>;
};

/** Comparisons of an organization with a parameter. The parameter stays, because Postgres must know its type. */
const PREDICATE = /(?:\b\w+\.)?\borganization_id\s*=\s*(\$\d+)(?:::uuid)?/g;
const PARSE = 'P'.charCodeAt(0);

export async function startUnconfined(target: string): Promise<Unconfined> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let taken = 0;
  const rewrite = (statement: string) =>
    statement.replaceAll(PREDICATE, (_, parameter: string) => {
      taken += 1;
      return `${parameter}::uuid is not null`;
    });
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const messages = createMessages(rewrite);
    client.on('data', (bytes) => upstream.write(messages(bytes)));
    upstream.on('data', (bytes) => client.write(bytes));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    count: () => taken,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Returns a function that takes the bytes of a connection, and returns whole messages with their statements rewritten. */
function createMessages(rewrite: (statement: string) => string): (bytes: Buffer) => Buffer {
  let held: Buffer = Buffer.alloc(0);
  let hasStarted = false;
  let isConfined = false;
  return (bytes) => {
    held = Buffer.concat([held, bytes]);
    const whole: Buffer[] = [];
    while (true) {
      // The first message has no type, only its length.
      const typeBytes = hasStarted ? 1 : 0;
      if (held.length < typeBytes + 4) break;
      const end = typeBytes + held.readInt32BE(typeBytes);
      if (held.length < end) break;
      const message = held.subarray(0, end);
      held = held.subarray(end);
      if (!hasStarted) {
        isConfined = message.includes('role\0assay_api\0');
        hasStarted = true;
        whole.push(message);
      } else {
        whole.push(isConfined && message[0] === PARSE ? rewriteParse(message, rewrite) : message);
      }
    }
    return Buffer.concat(whole);
  };
}

/** `P`, the length, a name, the statement, and the types of its parameters; name and statement end with a zero byte. */
function rewriteParse(message: Buffer, rewrite: (statement: string) => string): Buffer {
  const nameEnd = message.indexOf(0, 5) + 1;
  const statementEnd = message.indexOf(0, nameEnd);
  const statement = Buffer.from(rewrite(message.toString('utf8', nameEnd, statementEnd)));
  const body = Buffer.concat([message.subarray(5, nameEnd), statement, message.subarray(statementEnd)]);
  const head = Buffer.alloc(5);
  head[0] = PARSE;
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
