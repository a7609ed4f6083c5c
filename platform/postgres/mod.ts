/** PostgreSQL: connecting, migrating, listening. */
export { noteActor, withActor } from './actor.ts';
export { holdErasures, holdErasuresBriefly, lockName } from './advisory-locks.ts';
export { onAnnounced } from './announced.ts';
export { answeredWithin, createAvailability } from './availability.ts';
export { mayHaveWritten, noteBegun, noteReading, noteUrgent, withClient } from './client.ts';
export {
  connectPostgres,
  inOrganization,
  isCancelled,
  isPassing,
  isStoreUnavailable,
  type Sql,
  type TransactionSql,
} from './connect.ts';
export { createGathered } from './gathered.ts';
export { createListener, type Listener } from './listen.ts';
export { checkSchema, checkSettings, migrate } from './migrate.ts';
export { onSetBack } from './set-back.ts';
export { createStoreCache } from './store-cache.ts';
export { withinTime } from './within-time.ts';
