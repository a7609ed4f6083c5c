/** One attempt: signs a message, posts it, and returns the result. */
import { Webhook } from 'standardwebhooks';
import { storableText } from '#core/contracts/storable-text.ts';
import { cutToBytes } from '#core/text/mod.ts';
import { readRetryAfter } from '#platform/http-message/mod.ts';
import { type Outbound, OutboundError } from '#platform/outbound/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { maskSecrets } from '#platform/secrets/mod.ts';
import type { WebhookSecrets } from '#platform/webhooks/mod.ts';

/** Result of an attempt. */
export type Attempt = {
  /** Start of the attempt, in milliseconds since the epoch. */
  atMs: number;
  durationMs: number;
  /** Null: there was no response. */
  status: number | null;
  /** Why it failed; null: it did not. */
  error: string | null;
  /** The beginning of the response's body as text; null: there was none. */
  answer: string | null;
  retryAfterMs: number | null;
};

/** Bytes of a response's body that are kept. */
const ANSWER_BYTES = 1_024;
/** Time to read them, once the status is known. */
const ANSWER_WAIT_MS = 1_000;
/** Standard Webhooks recommends 15 to 30 seconds. */
export const ATTEMPT_TIMEOUT_MS = 15_000;

export type AttemptOptions = { outbound: Outbound; clock: Clock; timeoutMs: number; signal: AbortSignal };

/** Posts a message. Rejects only with the reason of `signal`. */
export async function attempt(
  message: { id: string; url: string; body: string; secrets: WebhookSecrets; isRotating: boolean },
  { outbound, clock, timeoutMs, signal }: AttemptOptions,
): Promise<Attempt> {
  const { url, body, secrets } = message;
  const atMs = clock.now();
  const began = clock.monotonic();
  const ended = (result: Partial<Attempt>): Attempt => ({
    atMs,
    durationMs: Math.round(clock.monotonic() - began),
    status: null,
    error: null,
    answer: null,
    retryAfterMs: null,
    ...result,
  });
  try {
    const {
      status,
      headers,
      body: answer,
    } = await outbound.post({
      url,
      body,
      timeoutMs,
      signal,
      beginning: { maxBytes: ANSWER_BYTES, waitMs: ANSWER_WAIT_MS },
      headers: { ...headersOf(message, atMs), 'content-type': 'application/json', 'user-agent': 'assay' },
    });
    const isSuccess = status >= 200 && status <= 299;
    return ended({
      status,
      error: isSuccess ? null : errorOfStatus(status),
      answer: readable(answer, secrets),
      retryAfterMs: isSuccess ? null : readRetryAfter(headers, clock.now()),
    });
  } catch (error) {
    if (error instanceof OutboundError) return ended({ error: error.message });
    signal.throwIfAborted();
    throw error;
  }
}

/** The headers of Standard Webhooks: a signature by the secret, and by the one before it while it is rotated. */
function headersOf(
  {
    id,
    body,
    secrets,
    isRotating,
  }: { id: string; body: string; secrets: WebhookSecrets; isRotating: boolean },
  atMs: number,
): Record<string, string> {
  const at = new Date(atMs);
  const signing = [
    secrets.secret,
    ...(isRotating && secrets.previous !== undefined ? [secrets.previous] : []),
  ];
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(atMs / 1_000)),
    'webhook-signature': signing.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  };
}

function errorOfStatus(status: number): string {
  if (status >= 300 && status <= 399)
    return `The receiver answered with a redirect (${status}): none is followed`;
  if (status === 410) return 'The receiver answered with status 410: it wants no more messages';
  return `The receiver answered with status ${status}`;
}

/** Returns bytes as text that Postgres can hold. A receiver may know the secret, and echo it: it is masked. */
function readable(bytes: Buffer, { secret, previous = '' }: WebhookSecrets): string {
  const text = storableText(maskSecrets(bytes.toString('utf8'), [secret, previous]));
  return cutToBytes(text, ANSWER_BYTES);
}
