/** PostgreSQL: connecting, migrating, and the embedded server. */
export {
  type ConnectOptions,
  connectPostgres,
  inOrganization,
  isStoreUnavailable,
  type Sql,
  type TransactionSql,
} from './connect.ts';
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded/server.ts';
export { type ListenOptions, listen } from './listen.ts';
export { checkSchema, migrate, SchemaMismatchError } from './migrate.ts';
