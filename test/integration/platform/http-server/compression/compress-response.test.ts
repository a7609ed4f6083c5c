/** A server that compresses, seen by a client that reads the bytes on the wire. */
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync, constants, gunzipSync, zstdDecompressSync } from 'node:zlib';
import t from 'tap';
import { request } from 'undici';
import { Reply, serve } from '#platform/http-server/mod.ts';

const TEXT = 'A sentence that a model has said more than once. '.repeat(100);
/** What lets a decoder return what it has of a text that goes on. */
const FLUSHES = {
  gzip: constants.Z_SYNC_FLUSH,
  br: constants.BROTLI_OPERATION_FLUSH,
  zstd: constants.ZSTD_e_flush,
};
const DECODERS = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };

/** A server that answers every request so. */
async function serving(t: Tap, answer: () => Response, compresses = true): Promise<string> {
  const server = await serve({ host: '127.0.0.1', port: 0, fetch: async () => answer(), compresses });
  t.teardown(() => server.close(0));
  return server.url;
}
type Tap = Pick<typeof t, 'teardown'>;

type Head = [string, string][];
const JSON_HEAD: Head = [['content-type', 'application/json']];

async function get(url: string, acceptEncoding: string | null, method: 'GET' | 'HEAD' = 'GET') {
  const headers = acceptEncoding === null ? {} : { 'accept-encoding': acceptEncoding };
  const { statusCode, headers: received, body } = await request(url, { method, headers });
  return { status: statusCode, headers: received, bytes: Buffer.from(await body.arrayBuffer()) };
}

t.test('a body comes in the coding that its client accepts, and says what it depends on', async (t) => {
  const url = await serving(t, () => new Reply(TEXT, { status: 418, headers: JSON_HEAD }));
  for (const [coding, decode] of Object.entries(DECODERS)) {
    const { status, headers, bytes } = await get(url, coding);
    t.equal(status, 418);
    t.match(headers, {
      'content-encoding': coding,
      vary: 'Accept-Encoding',
      'content-length': String(bytes.length),
    });
    t.ok(bytes.length < TEXT.length / 10);
    t.equal(decode(bytes).toString(), TEXT);
  }
});

t.test('a body comes as it is to a client that does not accept a coding, with the same vary', async (t) => {
  const url = await serving(t, () => new Reply(TEXT, { headers: JSON_HEAD }));
  for (const accepted of [
    null,
    '',
    'identity',
    'deflate',
    'gzip;q=0',
    'gzip;q=0.1, identity',
    '*;q=0',
    'identity;q=0',
  ]) {
    const { headers, bytes } = await get(url, accepted);
    t.equal(headers['content-encoding'], undefined, String(accepted));
    t.equal(headers.vary, 'Accept-Encoding');
    t.equal(bytes.toString(), TEXT);
  }
});

t.test('a body below 1 KiB comes as it is, except to a client that refuses that', async (t) => {
  for (const [size, isCompressed] of [
    [0, false],
    [1_023, false],
    [1_024, true],
  ] as const) {
    const url = await serving(
      t,
      () => new Reply('é'.repeat(size).slice(0, size >> 1) + 'x'.repeat(size & 1), { headers: JSON_HEAD }),
    );
    t.equal((await get(url, 'gzip')).headers['content-encoding'] === 'gzip', isCompressed, `${size} bytes`);
  }
  const url = await serving(t, () => new Reply('{}', { headers: JSON_HEAD }));
  const { headers, bytes } = await get(url, 'gzip, identity;q=0');
  t.equal(headers['content-encoding'], 'gzip');
  t.equal(gunzipSync(bytes).toString(), '{}');
});

t.test('what is coded, not text, or named by an ETag is left alone', async (t) => {
  const HEADS: Head[] = [
    [...JSON_HEAD, ['Content-Encoding', 'br']],
    [...JSON_HEAD, ['ETag', '"1"']],
    [['content-type', 'image/png']],
    [['content-type', 'text/event-stream']],
    [],
  ];
  for (const headers of HEADS) {
    const url = await serving(t, () => new Reply(TEXT, { headers }));
    const answer = await get(url, 'gzip');
    t.equal(answer.bytes.toString(), TEXT, JSON.stringify(headers));
    t.equal(answer.headers.vary, undefined);
  }
});

t.test('an existing vary is kept', async (t) => {
  const CASES = [
    ['Origin', 'Origin, Accept-Encoding'],
    ['accept-encoding', 'accept-encoding'],
    ['*', '*'],
  ] as const;
  for (const [vary, expected] of CASES) {
    const url = await serving(t, () => new Reply(TEXT, { headers: [...JSON_HEAD, ['Vary', vary]] }));
    t.equal((await get(url, 'gzip')).headers.vary, expected);
  }
});

t.test('HEAD has the headers of GET and no body', async (t) => {
  const url = await serving(t, () => new Reply(TEXT, { headers: JSON_HEAD }));
  const [got, head] = [await get(url, 'br'), await get(url, 'br', 'HEAD')];
  for (const name of ['content-encoding', 'content-length', 'vary'])
    t.equal(head.headers[name], got.headers[name], name);
  t.equal(head.bytes.length, 0);
});

/** Pieces that are handed out one by one, as a test says so. */
function piecewise() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
    },
    cancel: () => {
      isCancelled = true;
    },
  });
  return { stream, controller, isCancelled: () => isCancelled };
}

for (const coding of Object.keys(DECODERS)) {
  t.test(`each piece of a stream arrives in ${coding} before the next is there`, async (t) => {
    const { stream, controller } = piecewise();
    const url = await serving(
      t,
      () => new Reply(stream, { headers: [['content-type', 'application/x-ndjson']] }),
    );
    controller.enqueue(Buffer.from('{"first":1}\n'));
    const { headers, body } = await request(url, { headers: { 'accept-encoding': coding } });
    t.equal(headers['content-encoding'], coding);
    const received: Buffer[] = [];
    const chunks = body[Symbol.asyncIterator]();
    received.push((await chunks.next()).value as Buffer);
    const decode = DECODERS[coding as keyof typeof DECODERS];
    const seen = decode(received[0]!, { finishFlush: FLUSHES[coding as keyof typeof FLUSHES] });
    t.equal(seen.toString(), '{"first":1}\n', 'and can be read');
    controller.enqueue(Buffer.from(TEXT));
    controller.enqueue(new Uint8Array(0));
    controller.close();
    for await (const chunk of { [Symbol.asyncIterator]: () => chunks }) received.push(chunk as Buffer);
    const decoded = decode(Buffer.concat(received));
    t.equal(decoded.toString(), `{"first":1}\n${TEXT}`);
  });
}

t.test('a stream that fails ends the connection, and is not taken for a whole one', async (t) => {
  const { stream, controller } = piecewise();
  const url = await serving(t, () => new Reply(stream, { headers: JSON_HEAD }));
  controller.enqueue(Buffer.from(TEXT));
  const { body } = await request(url, { headers: { 'accept-encoding': 'gzip' } });
  const read = body.arrayBuffer();
  controller.error(new Error('the source failed'));
  await t.rejects(read);
});

t.test('a client that leaves cancels the source', async (t) => {
  const { stream, controller, isCancelled } = piecewise();
  const url = await serving(t, () => new Reply(stream, { headers: JSON_HEAD }));
  controller.enqueue(Buffer.from(TEXT));
  const { body } = await request(url, { headers: { 'accept-encoding': 'zstd' } });
  await body[Symbol.asyncIterator]().next();
  body.destroy();
  body.on('error', () => {});
  while (!isCancelled()) await sleep(5);
  t.pass('cancelled');
});

t.test('a large stream is compressed whole, at the pace of its reader', async (t) => {
  const piece = Buffer.from(TEXT.repeat(14));
  let handedOut = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (handedOut === 200) controller.close();
        else {
          handedOut += 1;
          controller.enqueue(piece);
        }
      },
    },
    { highWaterMark: 0 },
  );
  const url = await serving(t, () => new Reply(stream, { headers: JSON_HEAD }));
  const { bytes } = await get(url, 'gzip');
  t.equal(gunzipSync(bytes).length, 200 * piece.length);
});

t.test('a server that does not compress sends every body as it is', async (t) => {
  const url = await serving(t, () => new Reply(TEXT, { headers: JSON_HEAD }), false);
  const { headers, bytes } = await get(url, 'gzip, br, zstd, identity;q=0');
  t.equal(headers['content-encoding'], undefined);
  t.equal(headers.vary, undefined);
  t.equal(bytes.toString(), TEXT);
});
