import postgres from 'postgres';
import { AssayError } from '#core/contracts/errors.ts';
import { ARRAY_TYPES } from './arrays.ts';
import { openSocket, type SocketOptions } from './socket.ts';

/** A pool of connections; a tagged template on it is a statement, its values bound parameters. */
export type Sql = postgres.Sql;
/** What `sql.begin` passes: the same, on one connection in a transaction. */
export type TransactionSql = postgres.TransactionSql;

export type ConnectOptions = {
  url: string;
  /** Connections at most. */
  max: number;
  /** `assay_api`: row-level security applies, so a statement sees the organization of its transaction only. */
  role?: 'assay_api';
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** A statement that takes longer is cancelled by the server (SQLSTATE 57014); 0: it may take for ever. */
  statementTimeoutMs: number;
  /**
   * A connection on which nothing has come for so long is given up, and so is, by the server, one on which nothing comes
   * inside a transaction. 0: never. Unless given: a minute, or longer than any statement may take.
   */
  silenceMs?: number;
};

const CONNECT_TIMEOUT_SECONDS = 5;
/** An outage ends when Postgres answers again, so connecting is retried soon: the default backs off to 20 s. */
const LONGEST_RETRY_SECONDS = 1;
const LEAST_SILENCE_MS = 60_000;
/** A server cancels a statement within its time, and says so. */
const SILENCE_BEYOND_STATEMENT_MS = 15_000;
/** Of the silence: what rests is closed in peace before it is taken for dead. */
const IDLE_SHARE = 0.7;

function silenceBeyond(statementTimeoutMs: number): number {
  if (statementTimeoutMs === 0) return 0;
  return Math.max(LEAST_SILENCE_MS, statementTimeoutMs + SILENCE_BEYOND_STATEMENT_MS);
}

/**
 * Opens a pool; nothing is connected until the first statement. `end()` closes it. bigint columns come back as
 * strings, unless cast: they can be larger than a JavaScript number holds. Do not use its `reserve`, which without
 * `fetch_types` never answers when it has to connect first: use `begin`.
 */
export function connectPostgres(options: ConnectOptions): Sql {
  const { statementTimeoutMs, silenceMs = silenceBeyond(statementTimeoutMs) } = options;
  // postgres.js knows it, its types do not.
  const socket: object = { socket: (to: SocketOptions) => openSocket(to, silenceMs) };
  return postgres(options.url, {
    ...socket,
    idle_timeout: (IDLE_SHARE * silenceMs) / 1_000,
    max: options.max,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    backoff: (attempt) => Math.min(0.05 * 2 ** attempt, LONGEST_RETRY_SECONDS),
    connection: {
      application_name: options.applicationName,
      statement_timeout: statementTimeoutMs,
      // Of a client whose machine is gone nobody tells the server, which would keep its locks for two hours.
      idle_in_transaction_session_timeout: silenceMs,
      ...(options.role === undefined ? {} : { role: options.role }),
    },
    onnotice: () => {},
    fetch_types: false,
    types: ARRAY_TYPES,
  });
}

/**
 * Runs `work` in a transaction that belongs to one organization: under the role `assay_api`, row-level security lets it
 * see and change that organization's rows only.
 */
export function inOrganization<T>(
  sql: Sql,
  organizationId: string,
  work: (tx: TransactionSql) => Promise<T>,
): Promise<T> {
  return sql.begin(async (tx) => {
    await tx`select set_config('assay.organization', ${organizationId}, true)`;
    return await work(tx);
  }) as Promise<T>;
}

/** Failures of the connection: the network's, and postgres.js's own. */
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

/**
 * SQLSTATEs by which the server says "not now": 08 connection exception, 53300 too many connections, 57P01 to 57P03
 * shutting down, crashed, starting; 25006 read-only (a standby after a failover).
 */
const UNAVAILABLE_STATES = /^(08...|53300|57P0[1-3]|25006)$/;

/** Whether `error` means that Postgres cannot be reached or cannot work now: worth trying again, and nobody's mistake. */
export function isStoreUnavailable(error: unknown): boolean {
  if (error instanceof AssayError) return error.code === 'store_unavailable';
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && (CONNECTION_CODES.has(code) || UNAVAILABLE_STATES.test(code));
}
