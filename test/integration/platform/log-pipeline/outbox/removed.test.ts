/** Outboxes whose files another program removes, cuts off or replaces while they are written. */
import { cpSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { takeAbandonedOutbox } from '#platform/log-pipeline/outbox/mod.ts';
import { openIn, rawEntry, readAll, temporaryRoot } from '../../../../support/outbox.ts';

const WAYS: Record<string, (directory: string, segment: string) => void> = {
  'its file is removed': (_, segment) => rmSync(segment),
  'its file is emptied': (_, segment) => truncateSync(segment),
  'its file is put in place by a copy of it': (_, segment) => {
    renameSync(segment, `${segment}.backup`);
    cpSync(`${segment}.backup`, segment);
  },
  'its directory is removed': (directory) => rmSync(directory, { recursive: true }),
  'the directory of all is removed': (directory) => rmSync(join(directory, '..'), { recursive: true }),
};

for (const [way, change] of Object.entries(WAYS)) {
  t.test(`an outbox is found to be written where nobody reads within a second when ${way}`, async (t) => {
    const lines: { level: number; segment?: number }[] = [];
    const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
    const { outbox, directory } = await openIn(temporaryRoot(t), { log });
    await outbox.append({}, rawEntry('before'));
    await sleep(1_500);
    t.same(lines, [], 'it is sound');
    change(directory, join(directory, '0000000001.log'));
    await outbox.append({}, rawEntry('in between'));
    await sleep(2_500);
    t.match(lines, [{ level: 50, segment: 1 }], 'which is told once');
    t.equal(await outbox.append({}, rawEntry('after')), true);
    t.ok((await readAll(directory)).heads.includes('after'));
    t.equal(takeAbandonedOutbox(directory), null, 'readers see that its process lives');
    await outbox.close();
  });
}
