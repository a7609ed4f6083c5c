/** Logs requests made elsewhere, through the same pipeline as the gateway's, beginning with the outbox. */
import { AssayError } from '#core/contracts/errors.ts';
import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { LOG_WINDOW_S } from '#core/rate-limit/mod.ts';
import { type ApiKey, reserveRequestId } from '#platform/keys/mod.ts';
import type { LogLimit } from '#platform/limiter/mod.ts';
import type { Outbox } from '#platform/log-pipeline/outbox/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Metrics } from '#platform/observability/metrics.ts';
import { isPassing, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { loggablePeriod } from './moments.ts';
import { readCall, type SentCall } from './read-call.ts';

export { LogRequestBody } from './body.ts';
export { loggablePeriod, readCreatedAt } from './moments.ts';
export { BODY_PATHS } from './read-call.ts';

/**
 * Logs a request for the organization of `key`, and resolves with its id once it is committed to the outbox.
 * @throws AssayError invalid_body; request_id_in_use when a request of this id is in the log already; outbox_unavailable
 *   when the request is not logged and can be sent again
 * @throws LoggingRateError when the organization's logging rate is used up: it can be sent again later
 */
export type LogRequest = (key: Sender, call: SentCall, options?: LogOptions) => Promise<string>;

/** The source of a record: `api` by default. Callers of the API cannot choose it. */
export type LogOptions = { source: LogEntryHead['source'] };

/** The API key that a request is logged with. */
export type Sender = Pick<ApiKey, 'keyId' | 'organizationId' | 'logsPer5s'>;

export type LogDependencies = {
  outbox: Pick<Outbox, 'append'>;
  logs: LogLimit;
  /** Connects as the owner. */
  sql: Sql;
  /** The time for which records are kept; null: for ever. */
  retentionDays: number | null;
  clock: Clock;
  log: Logger;
};

/** An organization has logged as much as its rate allows. */
export class LoggingRateError extends AssayError {
  /** Whole seconds until another request will be logged; at least 1. */
  readonly retryAfterS: number;

  constructor(logsPer5s: number, retryAfterMs: number) {
    super(
      'rate_limit_exceeded',
      `The request was not logged: the organization's logging rate of ${logsPer5s} in any ${LOG_WINDOW_S} seconds is used up; Retry-After says in how many seconds one more will be logged`,
    );
    this.retryAfterS = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  }
}

/** Returns the function to call for each request whose logging this process decides alone. */
export function countDegraded(metrics: Metrics): () => void {
  const degraded = metrics.counter(
    'api_limits_degraded_total',
    'Requests to log that were decided by this process alone, as the store of counters was away',
  );
  return () => degraded.inc();
}

/** Creates the function that logs requests made elsewhere. */
export function createRequestLog(dependencies: LogDependencies): LogRequest {
  const { outbox, logs, sql, retentionDays, clock, log } = dependencies;

  /** Counts an entry and appends it. A counted entry that could not be appended stays counted, for 5 seconds. */
  async function append({ organizationId, logsPer5s }: Sender, id: string, entry: LogEntry): Promise<void> {
    if (logsPer5s !== null) {
      const { isAdmitted, retryAfterMs } = await logs.admit(organizationId, logsPer5s);
      if (!isAdmitted) throw new LoggingRateError(logsPer5s, retryAfterMs);
    }
    if (await outbox.append(id, entry)) return;
    throw new AssayError(
      'outbox_unavailable',
      'The request was not logged: the outbox is full or cannot be written now; try again',
    );
  }

  /**
   * Reserves the id and appends the entry in one transaction, so that only a logged request uses up its id: a caller that
   * got no response, or a failure, can send the request again with the same id.
   */
  async function reserveAndAppend(sender: Sender, id: string, entry: LogEntry): Promise<void> {
    let isLogged = false;
    try {
      await sql.begin(async (tx) => {
        if (!(await reserveRequestId(tx, sender.organizationId, id))) {
          throw new AssayError('request_id_in_use', `The request_id ${id} was used before`);
        }
        await append(sender, id, entry);
        isLogged = true;
      });
    } catch (error) {
      // While Postgres is away, ids are accepted unchecked, as on the gateway. The same call sent twice is stored once anyway.
      if (!isPassing(error)) throw error;
      log.warn({ requestId: id }, 'cannot check whether a request id was used before');
      if (!isLogged) await append(sender, id, entry);
    }
  }

  return async (sender, sent, options) => {
    const { keyId, organizationId } = sender;
    const nowMs = clock.now();
    const { requestId, head, requestBody, responseBody } = await readCall(
      sent,
      loggablePeriod(nowMs, retentionDays),
    );
    const id = requestId ?? newRequestId(nowMs);
    const entry = {
      head: Buffer.from(JSON.stringify({ ...head, ...options, id, organizationId, apiKeyId: keyId })),
      requestBody,
      responseBody,
    };
    if (requestId === null) await append(sender, id, entry);
    else await reserveAndAppend(sender, id, entry);
    return id;
  };
}
