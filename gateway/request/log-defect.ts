import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';

/** Logs an exception of the gateway's own during a call, with its stack. */
export function logDefect(log: Logger, requestId: string, error: unknown, message: string): void {
  const stack = error instanceof Error ? error.stack : undefined;
  log.error({ requestId, error: describeError(error), stack }, message);
}
