/** PostgreSQL: connecting, migrating, listening. */
export {
  type Availability,
  answeredWithin,
  createAvailability,
  StoreLateError,
} from './availability.ts';
export {
  type ConnectOptions,
  connectPostgres,
  inOrganization,
  isStoreUnavailable,
  type Sql,
  type TransactionSql,
} from './connect.ts';
export { type ListenOptions, listen } from './listen.ts';
export { checkSchema, migrate, SchemaMismatchError } from './migrate.ts';
