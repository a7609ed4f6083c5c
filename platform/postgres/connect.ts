/** Connections to PostgreSQL: pools, transactions within one organization, and which of their errors pass. */
import postgres from 'postgres';
import { AssayError } from '#core/contracts/errors.ts';
import type { FairSlots } from '../process/fair-slots.ts';
import { currentActor } from './actor.ts';
import { readDatabaseAddress } from './address/mod.ts';
import { ARRAY_TYPES } from './arrays.ts';
import { currentCancelling, currentWaits, noteBegun, type Place } from './client.ts';
import { openSocket, type SocketOptions } from './socket.ts';

/** A pool of connections. A tagged template on it is a statement, whose values are bound parameters. */
export type Sql = postgres.Sql;
/** One connection in a transaction, as `sql.begin` passes it. */
export type TransactionSql = postgres.TransactionSql;

export type ConnectOptions = {
  url: string;
  /** Most connections. */
  max: number;
  /** `assay_api`: row-level security applies, so a statement sees the organization of its transaction only. */
  role?: 'assay_api';
  /** The author of this pool's changes, for the audit log. By default the one noted by `noteActor`, else the system. */
  actor?: 'command_line';
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Time after which the server cancels a statement (SQLSTATE 57014); 0: never. */
  statementTimeoutMs: number;
  /**
   * Silence after which a connection is closed, in milliseconds; the server closes one that is silent inside a transaction.
   * 0: never. Default: a minute, or longer than any statement may take.
   */
  silenceMs?: number;
  /** Shares the connections out among the organizations of `inOrganization`. Default: they get them in the order of asking. */
  slots?: FairSlots;
};

const CONNECT_TIMEOUT_SECONDS = 5;
/** Longest wait between attempts to connect: short, so that an outage ends soon. The default backs off to 20 s. */
const LONGEST_RETRY_SECONDS = 1;
const LEAST_SILENCE_MS = 60_000;
/** Silence beyond the statement timeout: the server cancels a statement in time and reports it. */
const SILENCE_BEYOND_STATEMENT_MS = 15_000;
/** Fraction of the silence after which an idle connection is closed, before it counts as dead. */
const IDLE_SHARE = 0.7;

/**
 * Settings that the statements and the readers of their results rely on, whatever the defaults of the user, the database or the server are:
 * statements wait for each other's rows instead of failing, and values have one form.
 */
const SESSION_SETTINGS = {
  default_transaction_isolation: 'read committed',
  lock_timeout: '0',
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  // Off, the texts of arrays with nulls, as ingest sends them, would hold the word.
  array_nulls: 'on',
  // Off, each statement of the API would be an error instead of confined to an organization.
  row_security: 'on',
  idle_session_timeout: '0',
  // Statements are short; compiling one takes longer than running it.
  jit: 'off',
};

/**
 * Settings that hold unless the address has others. What is committed is given up elsewhere, as entries in NATS and the outboxes
 * are: with `off`, as users or servers have it for speed, those of the last moment would be lost when PostgreSQL is killed.
 */
const DEFAULT_SETTINGS = { synchronous_commit: 'on' };

const slotsOf = new WeakMap<Sql, FairSlots>();

function silenceBeyond(statementTimeoutMs: number): number {
  if (statementTimeoutMs === 0) return 0;
  return Math.max(LEAST_SILENCE_MS, statementTimeoutMs + SILENCE_BEYOND_STATEMENT_MS);
}

/**
 * Opens a pool, which connects at the first statement; `end()` closes it. bigint columns are returned as strings unless cast,
 * because they can exceed a JavaScript number. Use `begin` instead of the pool's `reserve`, which without `fetch_types` never
 * resolves when it has to connect first.
 */
export function connectPostgres(options: ConnectOptions): Sql {
  const { statementTimeoutMs, silenceMs = silenceBeyond(statementTimeoutMs) } = options;
  const address = readDatabaseAddress(options.url);
  if ('problem' in address) throw new Error(`The address of PostgreSQL ${address.problem}`);
  const { settings, ...server } = address.value;
  // Options for which the types of postgres.js are too narrow: it takes a `socket`, undefined ones have its defaults, and it
  // leaves out settings that are the number 0, so that the limits of the user would hold.
  const untyped: object = {
    ...server,
    socket: (to: SocketOptions) => openSocket(to, silenceMs),
    connection: {
      ...DEFAULT_SETTINGS,
      ...settings,
      ...SESSION_SETTINGS,
      // A standby refuses the connection for it. One that it took, while a name led there during a failover, would be kept and fail
      // each write for as long as it is used, long after the name leads to the primary again.
      transaction_read_only: 'off',
      application_name: options.applicationName,
      statement_timeout: `${statementTimeoutMs}`,
      // A server does not notice that a client's machine is gone, and would keep its locks for two hours.
      idle_in_transaction_session_timeout: `${silenceMs}`,
      ...(options.role === undefined ? {} : { role: options.role }),
      ...(options.actor === undefined ? {} : { 'assay.actor': options.actor }),
    },
  };
  const sql = postgres({
    ...untyped,
    idle_timeout: (IDLE_SHARE * silenceMs) / 1_000,
    max: options.max,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    backoff: (attempt) => Math.min(0.05 * 2 ** attempt, LONGEST_RETRY_SECONDS),
    onnotice: () => {},
    fetch_types: false,
    types: ARRAY_TYPES,
  });
  if (options.slots !== undefined) slotsOf.set(sql, options.slots);
  return sql;
}

/**
 * Returns the names of the settings that the server was sent and does not have. A pooler in between may be told to ignore
 * them: row-level security would not apply then, nor any time limit.
 */
export async function ignoredSettings(sql: Sql): Promise<string[]> {
  const { statement_timeout, idle_in_transaction_session_timeout, role } = sql.options.connection as Record<
    string,
    string | undefined
  >;
  const sent = { ...SESSION_SETTINGS, statement_timeout, idle_in_transaction_session_timeout };
  const rows = await sql<{ name: string; setting: string }[]>`
    select name, setting from pg_settings
     union all select 'role', current_setting('role')`;
  const found = new Map(rows.map(({ name, setting }) => [name, setting]));
  return Object.entries({ ...sent, ...(role !== undefined && { role }) })
    .filter(([name, value]) => found.get(name) !== value)
    .map(([name]) => name);
}

/**
 * Runs `work` in a transaction that belongs to one organization: under the role `assay_api`, row-level security lets it see and
 * change that organization's rows only. The audit log names the actor of the call that this is part of. When that call only
 * reads and its client disconnects, the transaction is cancelled. It must not begin another one: of a pool with slots, both
 * would wait for each other's connections.
 *
 * @param options `isContinued`: it goes on with what was begun, such as the next part of an answer or an export that has its place
 * @throws AssayError queries_busy: the pool has slots, and there was none for the organization; never in a call that has had one
 */
export async function inOrganization<T>(
  sql: Sql,
  organizationId: string,
  work: (tx: TransactionSql) => Promise<T>,
  { isSnapshot = false, isContinued = false }: TransactionOptions & { isContinued?: boolean } = {},
): Promise<T> {
  const slots = slotsOf.get(sql);
  if (slots === undefined) return await begin(sql, organizationId, work, { isSnapshot });
  const taken = await slots.take(organizationId, 1, currentWaits(isContinued));
  if (taken === null) {
    throw new AssayError(
      'queries_busy',
      'There was no connection to the store for this query in time: other queries of the organization, or of others, have them all',
    );
  }
  noteBegun();
  try {
    return await begin(sql, organizationId, work, { isSnapshot });
  } finally {
    taken.release();
  }
}

/** `isSnapshot`: all statements read the same snapshot, and change nothing. */
type TransactionOptions = { isSnapshot?: boolean };

async function begin<T>(
  sql: Sql,
  organizationId: string,
  work: (tx: TransactionSql) => Promise<T>,
  { isSnapshot = false }: TransactionOptions,
): Promise<T> {
  const actor = currentActor();
  const cancelling = currentCancelling();
  return sql.begin(isSnapshot ? 'isolation level repeatable read read only' : '', async (tx) => {
    const [place] = await tx<[Place]>`
      select pg_backend_pid() as pid, now()::text as began, set_config('assay.organization', ${organizationId}, true)
             ${actor === null ? tx`` : tx`, set_config('assay.actor', ${actor}, true)`}`;
    return await (cancelling === null ? work(tx) : cancelling(place, () => work(tx)));
  }) as Promise<T>;
}

/** Error codes of failed connections: the network's, and those of postgres.js. */
const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
]);

/** Error codes of TLS: a certificate that has ended, or that nobody has signed who is trusted; no TLS on the other end. */
const TLS_CODES =
  /^(ERR_(TLS|SSL)_|EPROTO$|(CERT|CRL|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|PATH_LENGTH)_|HOSTNAME_MISMATCH$|INVALID_(CA|PURPOSE)$)/;

/**
 * SQLSTATEs of a server that cannot work now: 08 connection exception, 53100 disk full, 53300 too many connections, 57P01 to
 * 57P03 shutting down, crashed, starting; 25006 read-only (a standby after a failover).
 */
const UNAVAILABLE_STATES = /^(08...|53[13]00|57P0[1-3]|25006)$/;

/**
 * Severities of an error that ends its connection, or lets none begin: a changed password, a database that is being restored or
 * renamed, a time limit of the server for sessions. None says anything about a statement, whose errors have the severity ERROR.
 */
const SESSION_SEVERITIES: ReadonlySet<unknown> = new Set(['FATAL', 'PANIC']);

/** SQLSTATEs of a standby's refusal of `transaction_read_only: 'off'`: its release decides which. */
const STANDBY_STATES: ReadonlySet<unknown> = new Set(['25001', '0A000']);

/** Returns whether `error` is a standby's refusal of a connection. */
export function isFromStandby(error: unknown): boolean {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  return SESSION_SEVERITIES.has(severity) && STANDBY_STATES.has(code);
}

/** Returns whether `error` means that Postgres cannot be reached or cannot work now, so that trying again may help. */
export function isStoreUnavailable(error: unknown): boolean {
  if (error instanceof AssayError) return error.code === 'store_unavailable';
  const { code, severity, syscall } = (error ?? {}) as {
    code?: unknown;
    severity?: unknown;
    syscall?: unknown;
  };
  // A Unix socket that is not there, or may not be opened, has codes that files have, too.
  if (SESSION_SEVERITIES.has(severity) || syscall === 'connect') return true;
  if (typeof code !== 'string') return false;
  return CONNECTION_CODES.has(code) || UNAVAILABLE_STATES.test(code) || TLS_CODES.test(code);
}

/**
 * SQLSTATEs that say nothing about the values of a statement: 40 a deadlock, 42501 and 42P01 a right or a table that an operator has
 * taken away, as in a restore, 53 a lack of memory, locks or room, 55P03 a lock, 57014 a cancellation, 58 a failing disk.
 */
const PASSING_STATES = /^(40...|42501|42P01|53...|55P03|57014|58...)$/;

/** Returns whether the same statement may succeed later: Postgres is unavailable, or something around the statement failed. */
export function isPassing(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return isStoreUnavailable(error) || (typeof code === 'string' && PASSING_STATES.test(code));
}

const QUERY_CANCELED = '57014';

/** Returns whether Postgres cancelled a statement, which took longer than it may. */
export function isCancelled(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === QUERY_CANCELED;
}
