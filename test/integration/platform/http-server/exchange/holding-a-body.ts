/** Holds a body that arrives in a hostile shape, and prints what it costs. Run by held-memory.test.ts. */

import { ResponseReader } from '#platform/http-client/response-reader.ts';
import { GatheredBytes } from '#platform/http-message/mod.ts';
import { IncomingBody } from '#platform/http-server/exchange/incoming-body.ts';

const FLOW = { pause: () => {}, resume: () => {}, sendContinue: null };
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const SINGLE_BYTES = 400_000;

/** A piece as a socket gives it: memory of its own, and nothing beside it. */
function piece(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(text.length);
  bytes.write(text, 'latin1');
  return bytes;
}

type Held = { bodyBytes: number; refusal: string | null };

/** Pushes pieces into a request's body, the last of which is not its end. */
function holdRequest(body: IncomingBody, pieces: number, text: string): Held {
  body.read(MAX_BODY_BYTES).catch(() => {});
  for (let count = 0; count < pieces; count += 1) {
    try {
      body.push(piece(text), 0);
    } catch (error) {
      return { bodyBytes: count, refusal: (error as Error).message };
    }
  }
  return { bodyBytes: pieces, refusal: null };
}

const kept: unknown[] = [];

function keep<Kept>(value: Kept): Kept {
  kept.push(value);
  return value;
}

const SHAPES: Record<string, () => Held> = {
  extensions: () =>
    holdRequest(keep(new IncomingBody('chunked', FLOW)), 3_000, `1;${'e'.repeat(16_000)}\r\nx\r\n`),
  slices: () => {
    const gathered = keep(new GatheredBytes());
    for (let count = 0; count < 1_000; count += 1) gathered.push(Buffer.alloc(65_536).subarray(9, 10));
    return { bodyBytes: gathered.length, refusal: null };
  },
  'length in single bytes': () =>
    holdRequest(keep(new IncomingBody(MAX_BODY_BYTES, FLOW)), SINGLE_BYTES, 'x'),
  'chunks of single bytes': () =>
    holdRequest(keep(new IncomingBody('chunked', FLOW)), SINGLE_BYTES, '1\r\nx\r\n'),
  'answer in single bytes': () => {
    const gathered = keep(new GatheredBytes());
    const reader = keep(new ResponseReader({ onHead: () => {}, onBytes: (bytes) => gathered.push(bytes) }));
    reader.push(piece(`HTTP/1.1 200 OK\r\ncontent-length: ${MAX_BODY_BYTES}\r\n\r\n`));
    for (let count = 0; count < SINGLE_BYTES; count += 1) reader.push(piece('x'));
    return { bodyBytes: gathered.length, refusal: null };
  },
};

const collect = globalThis.gc!;
collect();
const before = process.memoryUsage();
const held = SHAPES[process.argv[2]!]!();
// Memory of array buffers is freed a moment after they are collected.
for (let round = 0; round < 3; round += 1) {
  collect();
  await new Promise((resolve) => setImmediate(resolve));
}
const after = process.memoryUsage();
process.stdout.write(
  JSON.stringify({
    ...held,
    arrayBuffers: after.arrayBuffers - before.arrayBuffers,
    rss: after.rss - before.rss,
    heap: after.heapUsed - before.heapUsed,
    objects: kept.length,
  }),
);
