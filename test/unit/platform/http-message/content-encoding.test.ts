import { once } from 'node:events';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { CONTENT_ENCODINGS, canDecode, createDecoder } from '#platform/http-message/content-encoding.ts';
import { decodeContent, decodeContentInThread } from '#platform/http-message/mod.ts';

const ENCODERS: Record<string, (bytes: Uint8Array) => Buffer> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

async function streamed(bytes: Buffer, encoding: string): Promise<Buffer> {
  const decoder = createDecoder(encoding);
  const pieces: Buffer[] = [];
  decoder.on('data', (piece: Buffer) => pieces.push(piece));
  decoder.end(bytes);
  await once(decoder, 'end');
  return Buffer.concat(pieces);
}

t.test('CONTENT_ENCODINGS lists exactly the supported encodings', async (t) => {
  t.same(CONTENT_ENCODINGS, Object.keys(ENCODERS));
});

for (const [encoding, encode] of Object.entries(ENCODERS)) {
  t.test(`${encoding} is decompressed at once, in a thread and as a stream`, async (t) => {
    const body = fc.uint8Array({ maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(body, async (plain) => {
        const packed = encode(plain);
        for (const name of [encoding, ` ${encoding.toUpperCase()} `]) {
          if (!canDecode(name)) return false;
          if (!decodeContent(packed, name).equals(plain)) return false;
          if (!(await decodeContentInThread(packed, name, 1_000)).equals(plain)) return false;
          if (!(await streamed(packed, name)).equals(plain)) return false;
        }
        return true;
      }),
      { numRuns: 10 },
    );
    t.pass();
  });

  t.test(
    `${encoding} that decompresses to more than allowed is refused, and so is a truncated body`,
    async (t) => {
      const packed = encode(Buffer.alloc(10_000));
      const tooLarge = { code: 'ERR_BUFFER_TOO_LARGE' };
      t.throws(() => decodeContent(packed, encoding, 9_999), tooLarge);
      await t.rejects(decodeContentInThread(packed, encoding, 9_999), tooLarge);
      t.equal(decodeContent(packed, encoding, 10_000).length, 10_000);
      const torn = packed.subarray(0, packed.length - 3);
      t.throws(() => decodeContent(torn, encoding));
      await t.rejects(decodeContentInThread(torn, encoding, 20_000));
    },
  );
}

t.test('a body without an encoding is returned unchanged', async (t) => {
  const body = Buffer.from('plain');
  for (const encoding of [null, '', 'identity', ' Identity ']) {
    t.equal(decodeContent(body, encoding, 1).toString(), 'plain');
    t.equal(await decodeContentInThread(body, encoding, 1), body);
  }
});

t.test('an unknown content-encoding and a list of several are refused', async (t) => {
  for (const encoding of ['compress', 'gzip, br', 'toString']) {
    t.notOk(canDecode(encoding));
    t.throws(() => decodeContent(Buffer.from(''), encoding), {
      message: `unknown content-encoding ${encoding}`,
    });
    await t.rejects(decodeContentInThread(Buffer.from(''), encoding, 1));
  }
});
