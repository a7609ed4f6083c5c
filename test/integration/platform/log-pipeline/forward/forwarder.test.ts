import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { settlesWithin } from '#platform/process/deadline.ts';
import { waitFor } from '../../../../support/assay.ts';
import { logEntry } from '../../../../support/log-entries.ts';
import { natsIsMissing } from '../../../../support/nats.ts';
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
