/** A database, an outbox, and ingest between them. */
import { type Outbox, openOutbox } from '#platform/log-pipeline/outbox/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { Drain, type DrainOptions } from '../../../ingest/drain.ts';
import { createWorld, type Database, type Owner, silentLog } from '../../support/world.ts';

type Bytes = string | Uint8Array;

/** Creates one on a database of its own, unless one is given. */
export async function outboxWorld(owner: Owner, given: { database?: Database } = {}) {
  const { database, sql, directory, connect } = await createWorld(owner, given.database);
  const root = directory();
  const openAnother = () =>
    openOutbox({ root, id: newRequestId(), maxBytes: 1e9, sync: 'process', log: silentLog });
  const outbox = await openAnother();
  owner.teardown(() => outbox.close());
  const drain = (onStored: DrainOptions['onStored'] = () => {}, more: Partial<DrainOptions> = {}) =>
    new Drain({ root, sql, log: silentLog, clock: systemClock, retentionDays: null, onStored, ...more });
  return {
    database,
    sql,
    connect,
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
