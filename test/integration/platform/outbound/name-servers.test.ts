/** Names that users chose are resolved by asking name servers, each without keeping others waiting. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createOutbound, OutboundError, parseAllowList } from '#platform/outbound/mod.ts';
import { createLookup } from '#platform/outbound/name-servers.ts';

const A = 1;
const AAAA = 28;

/** Reads the question of a message: its name, its type and its bytes. */
function readQuestion(message: Buffer) {
  const labels: string[] = [];
  let at = 12;
  while (message[at] !== 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + message[at]!));
    at += message[at]! + 1;
  }
  return {
    name: labels.join('.'),
    type: message.readUInt16BE(at + 1),
    question: message.subarray(12, at + 5),
  };
}

/** Starts a name server: `answer` has the bytes of an address, null for none, and undefined for silence. */
async function serveNames(t: Test, answer: (name: string, type: number) => number[] | null | undefined) {
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    const { name, type, question } = readQuestion(message);
    const found = answer(name, type);
    if (found === undefined) return;
    const head = Buffer.from([
      message[0]!,
      message[1]!,
      0x81,
      0x80,
      0,
      1,
      0,
      found === null ? 0 : 1,
      0,
      0,
      0,
      0,
    ]);
    const record = found === null ? [] : [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, found.length, ...found];
    socket.send(Buffer.concat([head, question, Buffer.from(record)]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  t.teardown(() => socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

/** An outbound that asks this name server, and the port of a receiver that answers at 127.0.0.2. */
async function setUp(t: Test, nameServer: string) {
  const server = createServer((_, response) => response.writeHead(200, { connection: 'close' }).end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve));
  t.teardown(() => server.close());
  const parsed = parseAllowList(['127.0.0.2']);
  if ('badEntry' in parsed) throw new Error(parsed.badEntry);
  const outbound = createOutbound({ allow: parsed.allow, nameServers: [nameServer] });
  t.teardown(() => outbound.close());
  const { port } = server.address() as AddressInfo;
  const call = async (host: string) => {
    try {
      const url = `http://${host}:${port}/`;
      const { status } = await outbound.post({ url, headers: {}, body: '{}', timeoutMs: 15_000 });
      return `answered ${status}`;
    } catch (error) {
      return error instanceof OutboundError ? `${error.failure}: ${error.message}` : String(error);
    }
  };
  return call;
}

t.test('names whose servers are silent keep no other name waiting', async (t) => {
  const call = await setUp(
    t,
    await serveNames(t, (name, type) => {
      if (name.endsWith('.silent.example')) return undefined;
      return type === A ? [127, 0, 0, 2] : null;
    }),
  );
  const silent = Array.from({ length: 40 }, (_, at) => call(`n${at}.silent.example`));
  const began = performance.now();
  t.equal(await call('receiver.example'), 'answered 200');
  const tookMs = performance.now() - began;
  t.ok(tookMs < 1_500, `took ${Math.round(tookMs)} ms`);
  const outcomes = await Promise.all(silent);
  t.equal(outcomes.length, 40);
  for (const outcome of outcomes) t.match(outcome, /^(?:timeout|unreachable): n\d+\.silent\.example /);
});

t.test('a name without addresses could not be found, and one of IPv4 alone is called', async (t) => {
  const call = await setUp(
    t,
    await serveNames(t, (name, type) => {
      if (name === 'none.example') return null;
      return type === A ? [127, 0, 0, 2] : null;
    }),
  );
  t.equal(await call('none.example'), 'unreachable: none.example could not be found');
  t.equal(await call('four.example'), 'answered 200');
});

t.test('a name is refused if any of its addresses, of either family, is not admitted', async (t) => {
  const call = await setUp(
    t,
    await serveNames(t, (_, type) => (type === AAAA ? [...Array<number>(15).fill(0), 1] : [127, 0, 0, 2])),
  );
  t.match(await call('both.example'), /^forbidden:/);
});

t.test('a name that only the system knows is found, many times at once', async (t) => {
  const nameServer = await serveNames(t, () => null);
  const lookUp = createLookup({ hasHost: () => false, admits: () => true }, [nameServer]);
  const addressesOf = (host: string) =>
    new Promise<string[]>((resolve, reject) => {
      lookUp(host, { all: true }, (error, found) =>
        error === null ? resolve(found.map(({ address }) => address)) : reject(error),
      );
    });
  const found = await Promise.all(Array.from({ length: 20 }, () => addressesOf('localhost')));
  for (const addresses of found) t.ok(addresses.includes('127.0.0.1') || addresses.includes('::1'));
});
