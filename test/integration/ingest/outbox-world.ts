/** A database, an outbox, and ingest between them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Outbox, openOutbox } from '#platform/log-pipeline/outbox/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { Drain } from '../../../ingest/drain.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

const log = createLogger({ role: 'test', level: 'silent' });

type Bytes = string | Uint8Array;

/** On a database of its own unless one is given, which its owner closes. */
export async function outboxWorld(
  t: { teardown(fn: () => Promise<void>): void },
  given: { database?: TestDatabase } = {},
) {
  const database = given.database ?? (await testDatabase());
  const { sql } = database;
  const root = mkdtempSync(join(tmpdir(), 'assay-ingest-'));
  const openAnother = () => openOutbox({ root, id: newRequestId(), maxBytes: 1e9, sync: 'process', log });
  const outbox = await openAnother();
  t.teardown(async () => {
    await outbox.close();
    if (given.database === undefined) await database.close();
    rmSync(root, { recursive: true, force: true });
  });
  const drain = () =>
    new Drain({ root, sql, log, clock: systemClock, retentionDays: null, onStored: () => {} });
  return {
    database,
    sql,
    root,
    outbox,
    /** As another gateway on this machine has it. */
    openAnother,
    drain,
    /** Reads everything that is there, as a process of its own would. */
    async ingest() {
      const once = drain();
      once.stop();
      await once.run();
    },
    /** Appends an entry; a head that is text is taken as it is, whatever it is. */
    async put(head: unknown, request: Bytes = '{}', response: Bytes = '{}', into: Outbox = outbox) {
      const kept = await into.append(newRequestId(), {
        head: Buffer.from(typeof head === 'string' ? head : JSON.stringify(head)),
        requestBody: Buffer.from(request as string),
        responseBody: Buffer.from(response as string),
      });
      if (!kept) throw new Error('The outbox did not keep the entry');
    },
  };
}
