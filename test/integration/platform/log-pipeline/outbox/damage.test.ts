/** A changed byte of a segment costs the frame that it is in. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readOutbox } from '#platform/log-pipeline/outbox/mod.ts';
import {
  ALL,
  BEGINNING,
  interruptedHeads,
  openIn,
  rawEntry,
  readAll,
  temporaryRoot,
} from '../../../../support/outbox.ts';

/** Changes a byte in the middle of a text in a segment. */
function damage(directory: string, text: string): void {
  const segment = join(directory, '0000000001.log');
  const bytes = readFileSync(segment);
  bytes[bytes.indexOf(text) + 1]! ^= 1;
  writeFileSync(segment, bytes);
}

for (const size of [100, 100_000]) {
  t.test(`a damaged frame of ${size} bytes hides no other, also while its process writes on`, async (t) => {
    const { outbox, directory } = await openIn(temporaryRoot(t));
    for (const head of ['first', 'second', 'third', 'last'])
      await outbox.append({}, rawEntry(head, 'x'.repeat(size)));
    damage(directory, 'second');
    damage(directory, 'third');
    t.same((await readAll(directory)).heads, ['first', 'last']);
    const before = await readOutbox(directory, BEGINNING, ALL);
    const damaged = await readOutbox(directory, before.next, ALL);
    t.match(damaged, { entries: [], damage: { reason: 'checksum mismatch' }, hasMore: true });

    t.notMatch(damaged.damage!.bytes.toString('latin1'), /last/, 'what can be read is not set aside');
    await outbox.append({}, rawEntry('later'));
    t.same((await readAll(directory)).heads, ['first', 'last', 'later']);
    await outbox.close();
  });
}

t.test('behind damage no frame is taken from the body of a call', async (t) => {
  const root = temporaryRoot(t);
  const forged = await openIn(root);
  await forged.outbox.append({}, rawEntry('forged'));
  await forged.outbox.close();
  const body = readFileSync(join(forged.directory, '0000000001.log'));
  const { outbox, directory } = await openIn(root);
  await outbox.append({}, { ...rawEntry('sent'), responseBody: body });
  const segment = join(directory, '0000000001.log');
  const bytes = readFileSync(segment);
  bytes[0]! ^= 1;
  writeFileSync(segment, bytes);
  await outbox.append({}, rawEntry('last'));
  t.same((await readAll(directory)).heads, []);
  await outbox.close();
});

t.test('a damaged frame hides no STARTs behind it, and no ends of calls', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t));
  for (const name of ['ended', 'hidden']) await outbox.begin(name, rawEntry(`START ${name}`));
  await outbox.append('hidden', rawEntry('end of hidden'));
  await outbox.append('ended', rawEntry('end of ended'));
  await outbox.begin('open', rawEntry('START open'));
  await outbox.close();
  damage(directory, 'end of hidden');
  t.same(await interruptedHeads(directory), ['START hidden', 'START open']);
});
