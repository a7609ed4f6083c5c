import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { settlesWithin } from '#platform/process/deadline.ts';
import { waitFor } from '../../../../support/assay.ts';
import { logEntry } from '../../../../support/log-entries.ts';
import { natsIsMissing } from '../../../../support/nats.ts';
import { breakSegment, openIn } from '../../../../support/outbox.ts';
import { setUpLogPath } from '../log-path.ts';

t.test(
  'an outbox whose directory is removed does not delay the others',
  { skip: natsIsMissing() },
  async (t) => {
    const { outbox, forward, consume, stored, root } = await setUpLogPath(t);
    const gone = await outbox();
    await gone.outbox.append({}, logEntry());
    await gone.outbox.close();
    const own = await outbox();
    const { forwarder } = await forward(own.id);
    // No consumer yet: the forwarder holds the outbox of the ended process, and waits for its entry to be stored.
    await waitFor('the entry to be published', async () => forwarder.unconfirmed > 0);
    rmSync(join(root, gone.id), { recursive: true });
    const entry = logEntry();
    await own.outbox.append(entry.id, entry);
    await consume();
    await waitFor('the entry of the other outbox', async () => (await stored()).includes(entry.id));
    await own.outbox.close();
    forwarder.stop();
    await waitFor('the forwarder to be done', async () => forwarder.unconfirmed === 0);
  },
);

t.test(
  'an outbox that cannot be read does not delay the others, and is forwarded once it can be',
  { skip: natsIsMissing() },
  async (t) => {
    const { outbox, forward, consume, stored, root } = await setUpLogPath(t);
    const gone = await outbox();
    const late = logEntry();
    await gone.outbox.append(late.id, late);
    await gone.outbox.close();
    const repair = breakSegment(join(root, gone.id));
    const own = await outbox();
    const { forwarder, running } = await forward(own.id);
    await consume();
    const entry = logEntry();
    await own.outbox.append(entry.id, entry);
    await waitFor('the entry of the other outbox', async () => (await stored()).includes(entry.id));
    t.equal(forwarder.failingOutboxes, 1);
    repair();
    await waitFor('the entry that could not be read', async () => (await stored()).includes(late.id));
    await waitFor('its outbox to be removed', () => !existsSync(join(root, gone.id)));
    t.equal(forwarder.failingOutboxes, 0);
    await own.outbox.close();
    forwarder.stop();
    await running;
  },
);

t.test(
  'a forwarder that is stopped does not wait for an outbox that cannot be read',
  { skip: natsIsMissing() },
  async (t) => {
    const { outbox, forward, consume, stored, root } = await setUpLogPath(t);
    const gone = await outbox();
    await gone.outbox.append({}, logEntry());
    await gone.outbox.close();
    breakSegment(join(root, gone.id));
    const own = await outbox();
    const { forwarder, running } = await forward(own.id);
    await consume();
    const entry = logEntry();
    await own.outbox.append(entry.id, entry);
    await waitFor('it to be found', () => forwarder.failingOutboxes === 1);
    await own.outbox.close();
    forwarder.stop();
    t.ok(await settlesWithin(running, 30_000));
    t.same(await stored(), [entry.id]);
    t.notOk(existsSync(join(root, own.id)));
    t.ok(existsSync(join(root, gone.id)), 'it is left to the next process');
  },
);

t.test(
  'a forwarder whose connection is closed ends, whether or not there is a directory of outboxes',
  { skip: natsIsMissing() },
  async (t) => {
    const { forward, manager, root } = await setUpLogPath(t);
    for (const hasDirectory of [true, false]) {
      if (hasDirectory) mkdirSync(root, { recursive: true });
      else rmSync(root, { recursive: true });
      const { connection, running } = await forward('nobody');
      await waitFor('the stream', async () => {
        const info = await (await manager()).streams.info('LOGS').catch(() => null);
        return info !== null;
      });
      await connection.close();
      t.ok(await settlesWithin(running, 10_000), hasDirectory ? 'with one' : 'without');
    }
  },
);

t.test(
  'what is stored is noted once it can be, although nothing more is written',
  { skip: natsIsMissing() },
  async (t) => {
    const { outbox, forward, consume, root } = await setUpLogPath(t);
    const own = await outbox();
    const file = join(root, own.id, 'stored.json');
    mkdirSync(file);
    const entry = logEntry();
    await own.outbox.append(entry.id, entry);
    const { forwarder } = await forward(own.id);
    await consume();
    await waitFor('noting it to fail', () => forwarder.failingOutboxes === 1 && forwarder.unconfirmed === 0);
    rmSync(file, { recursive: true });
    await waitFor('it to be noted', () => forwarder.failingOutboxes === 0 && existsSync(file));
  },
);

t.test(
  'the file of an entry is removed once it is old and stored, though no other entry follows',
  { skip: natsIsMissing() },
  async (t) => {
    const { root, forward, consume, stored } = await setUpLogPath(t);
    const { id, outbox, directory } = await openIn(root, { segmentAgeMs: 1_000 });
    await consume();
    const { forwarder, running } = await forward(id);
    const entry = logEntry();
    await outbox.append({}, entry);
    const files = () => readdirSync(directory).filter((name) => name.endsWith('.log'));
    while (files().includes('0000000001.log')) await sleep(50);
    t.same(files(), ['0000000002.log']);
    t.same(await stored(), [entry.id]);
    await outbox.close();
    forwarder.stop();
    await running;
  },
);
