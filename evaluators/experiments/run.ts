/** Makes the call of a run, and says what came of it. */
import { requestOf } from '#core/experiments/mod.ts';
import { isObject, textOrNull } from '#core/json/mod.ts';
import { publicMessage } from '#core/scoring/mod.ts';
import { backoffMs } from '#platform/process/backoff.ts';
import type { GatewayClient, GatewayReply } from '../gateway-client.ts';
import type { ExperimentJob } from './job.ts';
import type { RunResult } from './settle.ts';

export type RunOptions = {
  client: Pick<GatewayClient, 'send'>;
  /** Returns the headers that authenticate a call of an experiment at the gateway. */
  internalHeaders(organizationId: string, experimentId: string): Record<string, string>;
};

/** Attempts of a run. One that fails for a passing reason at the last of them is an error. */
const MAX_ATTEMPTS = 5;

/** The longest wait of a run, in milliseconds. */
export const LONGEST_WAIT_MS = 300_000;
const BACKOFF = { firstMs: 5_000, longestMs: LONGEST_WAIT_MS, factor: 4 };

const DONE: RunResult = {
  state: 'completed',
  dueInMs: 0,
  errorCode: null,
  errorMessage: null,
  pause: null,
  isUncounted: false,
};

/** Makes the call of a run through the gateway, or says why it needs none. Never rejects. */
export async function runJob(
  job: ExperimentJob,
  { client, internalHeaders }: RunOptions,
): Promise<RunResult> {
  const { item, target, callId, usesCache, organizationId, experimentId, attempt } = job;
  if (item === null) return withoutCall('skipped', 'item_erased', 'The content of the item was erased');
  if (attempt > MAX_ATTEMPTS)
    return withoutCall('error', 'worker_lost', `No process finished it in ${MAX_ATTEMPTS} attempts`);
  const request = requestOf(target, item);
  if ('skipped' in request) return withoutCall('skipped', request.skipped, request.message);
  const reply = await client.send({
    headers: {
      ...internalHeaders(organizationId, experimentId),
      'service-request-id': callId,
      ...(usesCache && { 'service-cache-enabled': 'true' }),
    },
    body: JSON.stringify(request.body),
  });
  return resultOf(reply, attempt);
}

function withoutCall(state: 'skipped' | 'error', code: string, message: string): RunResult {
  return { ...DONE, state, errorCode: code, errorMessage: message, isUncounted: true };
}

/**
 * Returns what a reply leaves a run as. A refused key, an unpaid bill and a missing model pause the experiment, because every
 * further call would fail alike.
 */
function resultOf(reply: GatewayReply, attempt: number): RunResult {
  switch (reply.kind) {
    case 'too_large':
      // The answer is in the log, whole.
      return DONE;
    case 'unreachable':
    case 'aborted':
      return tryLater(
        'gateway_unreachable',
        'The gateway could not be reached, or broke off its answer',
        attempt,
      );
    case 'timeout':
      return tryLater('timeout', 'The answer did not come in time', attempt);
    case 'answer':
      return reply.status === 200 ? DONE : readFailure(reply, attempt);
  }
}

const PASSING = new Set([408, 409, 425, 429, 499]);
const PAUSING = new Set([401, 402, 403, 404]);

function readFailure(reply: Extract<GatewayReply, { kind: 'answer' }>, attempt: number): RunResult {
  const { status, text, retryAfterMs } = reply;
  const { code, message } = readError(text);
  const sentence = publicMessage(
    `The call was answered with ${status}${message === null ? '' : `: ${message}`}`,
  );
  const errorCode = code ?? `status_${status}`;
  if (PAUSING.has(status))
    return {
      ...DONE,
      state: 'pending',
      errorCode,
      errorMessage: sentence,
      pause: sentence,
      isUncounted: true,
    };
  if (status >= 500 || PASSING.has(status)) return tryLater(errorCode, sentence, attempt, retryAfterMs ?? 0);
  return { ...DONE, state: 'error', errorCode, errorMessage: sentence };
}

/** Returns the result of an attempt that failed for a passing reason: pending again, or an error at the last attempt. */
function tryLater(code: string, message: string, attempt: number, atLeastMs = 0): RunResult {
  const failure = { ...DONE, errorCode: code, errorMessage: message };
  if (attempt >= MAX_ATTEMPTS) return { ...failure, state: 'error' };
  const dueInMs = Math.min(BACKOFF.longestMs, Math.max(atLeastMs, backoffMs(BACKOFF, attempt - 1)));
  return { ...failure, state: 'pending', dueInMs };
}

function readError(text: string): { code: string | null; message: string | null } {
  try {
    const body: unknown = JSON.parse(text);
    const error = isObject(body) && isObject(body.error) ? body.error : {};
    return { code: textOrNull(error.code), message: textOrNull(error.message) };
  } catch {
    return { code: null, message: null };
  }
}
