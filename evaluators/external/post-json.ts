import type { IncomingHttpHeaders } from 'node:http';
import { readRetryAfter } from '#platform/http-message/mod.ts';
import { type Outbound, OutboundError } from '#platform/outbound/mod.ts';
import { ExternalFailure } from './failure.ts';

/** Enough for a service that asks a judge model. */
const DEFAULT_TIMEOUT_MS = 30_000;
/** About 2 million words; a larger body costs more to send than its score is worth. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** Serializes a value for a body. @throws ExternalFailure when it is too large or nested too deep */
export function toJsonBody(value: unknown): string {
  let body: string;
  try {
    body = JSON.stringify(value);
  } catch {
    throw new ExternalFailure('input_too_large', 'The request or its answer is nested too deep to be sent');
  }
  const bytes = Buffer.byteLength(body);
  if (bytes <= MAX_BODY_BYTES) return body;
  throw new ExternalFailure(
    'input_too_large',
    `The request and its answer take ${bytes} bytes as JSON: more than the ${MAX_BODY_BYTES} that are sent`,
  );
}

/**
 * Posts JSON and parses the JSON of a successful response.
 * @throws ExternalFailure for every other ending, with the code that says what can be done about it
 */
export async function postJson(
  outbound: Outbound,
  request: {
    url: string;
    headers: Record<string, string>;
    body: string;
    timeoutMs: number | undefined;
    nowMs: number;
    signal: AbortSignal | undefined;
  },
): Promise<unknown> {
  const answer = await outbound
    .post({
      url: request.url,
      body: request.body,
      timeoutMs: request.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      signal: request.signal,
      headers: {
        ...request.headers,
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': 'assay',
      },
    })
    .catch((error: unknown) => {
      throw error instanceof OutboundError ? failureOfOutbound(error) : error;
    });
  const text = decode(answer.body);
  if (answer.status < 200 || answer.status > 299) {
    throw failureOfStatus(answer.status, answer.headers, text, request.nowMs);
  }
  try {
    return JSON.parse(text ?? '');
  } catch {
    throw new ExternalFailure('ext_bad_answer', `The service's answer is not JSON${quoteText(text)}`);
  }
}

function decode(body: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return null;
  }
}

function quoteText(text: string | null): string {
  if (text === null) return ', nor text';
  const shown = text.trim();
  return shown === '' ? ': it is empty' : `: ${shown}`;
}

function failureOfOutbound(error: OutboundError): ExternalFailure {
  switch (error.failure) {
    case 'forbidden':
    case 'redirect':
      return new ExternalFailure('ext_forbidden_url', error.message);
    case 'too_large':
      return new ExternalFailure('ext_too_large', error.message);
    case 'timeout':
      return new ExternalFailure('ext_timeout', error.message, { retry: 'later' });
    case 'unreachable':
      return new ExternalFailure('ext_unavailable', error.message, { retry: 'later' });
  }
}

function failureOfStatus(
  status: number,
  headers: IncomingHttpHeaders,
  text: string | null,
  nowMs: number,
): ExternalFailure {
  const message = `The service answered with status ${status}${quoteText(text)}`;
  const askedMs = readRetryAfter(headers, nowMs);
  const retryAfterMs = askedMs === null ? null : Math.min(askedMs, LONGEST_RETRY_AFTER_MS);
  switch (status) {
    case 401:
    case 403:
      return new ExternalFailure('ext_unauthorized', message, { retry: 'later', pause: 'auth' });
    case 402:
      return new ExternalFailure('ext_billing', message, { retry: 'later', pause: 'billing' });
    case 408:
      return new ExternalFailure('ext_timeout', message, { retry: 'later', retryAfterMs });
    case 425:
      return new ExternalFailure('ext_unavailable', message, { retry: 'later', retryAfterMs });
    case 429:
      return new ExternalFailure('ext_rate_limited', message, { retry: 'later', retryAfterMs });
    default:
      return status >= 500
        ? new ExternalFailure('ext_unavailable', message, { retry: 'later', retryAfterMs })
        : new ExternalFailure('ext_rejected', message);
  }
}
