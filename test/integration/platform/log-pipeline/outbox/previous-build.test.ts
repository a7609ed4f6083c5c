/** A segment file as the first build wrote it: an upgrade finds such files in DATA_DIR, and must store what they hold. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readInterrupted, readOutbox } from '#platform/log-pipeline/outbox/mod.ts';

const BEGUN_7 = '240000000dc829400200070000000000070000000d0000007b2276223a317d7b226d6f64656c223a226d227d';
const FINISHED =
  '32000000211efd680100050403020100070000000d0000007b2276223a317d7b226d6f64656c223a226d227d646174613a205b444f4e455d0a0a';
const VOID_7 = '100000006755bea003000700000000000000000000000000';
const LIMITS = { maxEntries: 10, maxBytes: 1_000_000 };

function outboxWith(t: { testdir(): string }, ...frames: string[]): string {
  const directory = join(t.testdir(), '01K00000000000000000000000');
  mkdirSync(directory);
  writeFileSync(join(directory, '0000000001.log'), Buffer.from(frames.join(''), 'hex'));
  return directory;
}

t.test('finished entries of a segment of the first build are read with their positions', async (t) => {
  const directory = outboxWith(t, BEGUN_7, FINISHED, VOID_7);
  const { entries, next, damage } = await readOutbox(directory, { segment: 0, offset: 0 }, LIMITS);
  t.same(entries, [
    {
      head: Buffer.from('{"v":1}'),
      requestBody: Buffer.from('{"model":"m"}'),
      responseBody: Buffer.from('data: [DONE]\n\n'),
      position: { segment: 1, offset: BEGUN_7.length / 2 },
    },
  ]);
  t.same(next, { segment: 1, offset: (BEGUN_7 + FINISHED + VOID_7).length / 2 });
  t.equal(damage, null);
});

t.test('a call that a segment of the first build began and did not end is interrupted', async (t) => {
  const [start] = await readInterrupted(outboxWith(t, BEGUN_7, FINISHED));
  t.match(start, { head: Buffer.from('{"v":1}'), requestBody: Buffer.from('{"model":"m"}') });
  t.same(await readInterrupted(outboxWith(t, BEGUN_7, FINISHED, VOID_7)), []);
});
