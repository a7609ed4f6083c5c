/** Memory held by a body while it arrives, measured in its own process. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

const SCRIPT = fileURLToPath(new URL('holding-a-body.ts', import.meta.url));
const MIB = 1024 * 1024;

type Held = { bodyBytes: number; arrayBuffers: number; rss: number; refusal: string | null };

async function hold(shape: string): Promise<Held> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    '--expose-gc',
    SCRIPT,
    shape,
  ]);
  return JSON.parse(stdout) as Held;
}

t.test('a chunked body of mostly extensions is refused before it holds much memory', async (t) => {
  // One byte of data and 16,000 of extension in each of 3,000 pieces: 48 MB before.
  const held = await hold('extensions');
  t.match(held.refusal, /too many bytes beside their data/);
  t.ok(held.arrayBuffers < 4 * MIB, `${held.arrayBuffers} bytes in array buffers`);
});

t.test('a slice of a large piece does not keep the piece alive', async (t) => {
  // A byte out of each of 1,000 pieces of 64 KiB: 65 MB before.
  const held = await hold('slices');
  t.equal(held.bodyBytes, 1_000);
  t.ok(held.arrayBuffers < 4 * MIB, `${held.arrayBuffers} bytes in array buffers`);
});

for (const shape of ['length in single bytes', 'chunks of single bytes', 'answer in single bytes']) {
  t.test(`a body that arrives byte by byte costs no multiple of its size: ${shape}`, async (t) => {
    // 400,000 pieces of a byte each: some 100 MB before.
    const held = await hold(shape);
    t.equal(held.bodyBytes, 400_000);
    t.equal(held.refusal, null);
    t.ok(held.rss < 25 * MIB, `${held.rss} bytes more of resident memory`);
  });
}
