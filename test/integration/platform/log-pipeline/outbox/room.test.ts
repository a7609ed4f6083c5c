/** Outboxes that reach their bound, and disks that fill: what is refused, and when there is room again. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { trimOutbox } from '#platform/log-pipeline/outbox/mod.ts';
import { waitFor } from '../../../../support/assay.ts';
import { openIn, rawEntry, readAll, temporaryRoot } from '../../../../support/outbox.ts';
import { type Disk, smallDisk } from '../../../../system/chaos/disk.ts';

/** Returns a disk that can be full, on `root`; null, and a skip that says so, where mounting one is not allowed. */
function diskFor(t: Test, root: string): Disk | null {
  const disk = smallDisk(root);
  if (disk === null) t.pass('to mount a small file system takes root', { skip: true });
  else t.teardown(() => disk.remove());
  return disk;
}

t.test(
  'entries beyond the outbox bound are refused and counted, and accepted again when there is room',
  async (t) => {
    const root = temporaryRoot(t);
    const { outbox, directory } = await openIn(root, { maxBytes: 10_000, segmentBytes: 1_000 });
    const kept: boolean[] = [];
    for (let index = 0; index < 20; index += 1)
      kept.push(await outbox.append({}, rawEntry(`e${index}`, 'x'.repeat(1_000))));
    const count = kept.filter(Boolean).length;
    t.ok(count >= 8 && count < 10, `${count} kept`);
    t.equal(outbox.refused, 20 - count);
    t.equal(outbox.isRefusing, true);
    const { heads, position } = await readAll(directory);
    t.equal(heads.length, count);
    await trimOutbox(directory, position);
    // There is room once it has been measured, though no entry has come.
    while (outbox.isRefusing) await new Promise((resolve) => setTimeout(resolve, 50));
    t.equal(await outbox.append({}, rawEntry('after')), true);
    await outbox.close();
  },
);

t.test('an outbox that reached its bound has room again when what it holds is stored', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t), { maxBytes: 1024 * 1024 });
  const append = () => outbox.append({}, rawEntry('e', 'x'.repeat(50_000)));
  while (await append());
  await trimOutbox(directory, (await readAll(directory)).position);
  // There is room once it has been measured, which happens each second.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  t.equal(await append(), true);
  await outbox.close();
});

t.test(
  'outboxes that reached their bound together have room again when what they hold is stored',
  async (t) => {
    const root = temporaryRoot(t);
    const opened = await Promise.all(
      Array.from({ length: 8 }, () => openIn(root, { maxBytes: 1024 * 1024 })),
    );
    t.teardown(() => Promise.all(opened.map(({ outbox }) => outbox.close())));
    const appendToAll = () =>
      Promise.all(opened.map(({ outbox }) => outbox.append({}, rawEntry('e', 'x'.repeat(62_000)))));
    // Two fit into the segment of each, and a third of any is beyond the bound.
    for (let round = 0; round < 2; round += 1) t.notOk((await appendToAll()).includes(false));
    await waitFor('all to have measured', () => opened.every(({ outbox }) => outbox.bytesOnDisk > 980_000));
    t.notOk((await appendToAll()).includes(true));
    // A segment is old after ten seconds where room is short.
    await waitFor(
      'all to have room',
      async () => {
        for (const { directory } of opened) await trimOutbox(directory, (await readAll(directory)).position);
        return opened.every(({ outbox }) => outbox.bytesOnDisk < 100_000);
      },
      20_000,
    );
    t.notOk((await appendToAll()).includes(false));
  },
);

t.test('a disk that one segment fills has room again when the segment is stored', async (t) => {
  const root = temporaryRoot(t);
  const disk = diskFor(t, root);
  if (disk === null) return;
  const { outbox, directory } = await openIn(root, {});
  const append = () => outbox.append({}, rawEntry('e', 'x'.repeat(64 * 1024)));
  t.equal(await append(), true);
  disk.fill();
  const segments = () => readdirSync(directory).filter((name) => name.endsWith('.log'));
  t.equal(await append(), false);
  // A segment is old on a full disk after ten seconds, which is looked at each second.
  await new Promise((resolve) => setTimeout(resolve, 12_000));
  t.equal(segments().length, 2, 'a reader can remove the first one');
  t.equal(await append(), false);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  t.equal(segments().length, 2, 'one that has nothing is not followed by others');
  await outbox.close();
});

t.test('a disk that one segment fills has room again also while calls are open', async (t) => {
  const root = temporaryRoot(t);
  const disk = diskFor(t, root);
  if (disk === null) return;
  const { outbox, directory } = await openIn(root, {});
  const key = {};
  t.equal(await outbox.begin(key, rawEntry('open', 'y'.repeat(64 * 1024))), true);
  const append = (of = {}) => outbox.append(of, rawEntry('e', 'x'.repeat(64 * 1024)));
  for (let count = 0; count < 20; count += 1) t.equal(await append(), true);
  disk.fill();
  t.equal(await append(), false);
  const trim = async () => trimOutbox(directory, (await readAll(directory)).position);
  await waitFor(
    'room',
    async () => {
      await trim();
      return await append();
    },
    20_000,
  );
  t.equal(await append(key), true, 'the call that was open is logged');
  await outbox.close();
});

t.test(
  'entries on a full disk are refused without leaving bytes, and accepted again when there is room',
  async (t) => {
    const root = temporaryRoot(t);
    const disk = diskFor(t, root);
    if (disk === null) return;
    const { outbox, directory } = await openIn(root, {});
    const kept: string[] = [];
    const append = async (name: string) => {
      if (await outbox.append({}, rawEntry(name, 'x'.repeat(64 * 1024)))) kept.push(name);
    };
    // Each segment begins with what is open, and that would find room when an entry does not.
    await outbox.begin({}, rawEntry('open', 'y'.repeat(1_000)));
    await append('before');
    const filler = join(root, 'filler');
    writeFileSync(filler, Buffer.alloc(100 * 1024));
    disk.fill();
    rmSync(filler);
    for (let index = 0; index < 100; index += 1) await append(`full${index}`);
    t.same(kept, ['before', 'full0'], 'what found room was kept');
    t.equal(outbox.refused, 99);
    t.equal(outbox.isRefusing, true);
    t.equal(readdirSync(directory).filter((name) => name.endsWith('.log')).length, 1, 'in one segment');
    disk.empty();
    await append('after');
    t.equal(kept.at(-1), 'after');
    t.equal(outbox.isRefusing, false);
    const { heads } = await readAll(directory);
    t.same(heads, kept);
    await outbox.close();
  },
);

t.test('when the disk fills within a group of entries, exactly the whole ones are kept', async (t) => {
  const root = temporaryRoot(t);
  const disk = diskFor(t, root);
  if (disk === null) return;
  const { outbox, directory } = await openIn(root);
  const append = (name: string) => outbox.append({}, rawEntry(name, 'x'.repeat(10_000)));
  const filler = join(root, 'filler');
  await append('before');
  writeFileSync(filler, Buffer.alloc(64 * 1024));
  disk.fill();
  rmSync(filler);
  // The first is written at once; the others share a write, which finds room for some of them.
  const names = Array.from({ length: 20 }, (_, index) => `entry ${index}`);
  const kept = await Promise.all(names.map(append));
  const keptNames = names.filter((_, index) => kept[index]);
  t.ok(keptNames.length > 2 && keptNames.length < 20, `${keptNames.length} found room`);
  t.equal(outbox.refused, 20 - keptNames.length);
  t.same((await readAll(directory)).heads, ['before', ...keptNames]);
  await outbox.close();
});
