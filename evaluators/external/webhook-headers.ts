import { createHmac } from 'node:crypto';
import { readSigningKey } from '#core/contracts/external.ts';

/**
 * Returns the headers of a message by the scheme of Standard Webhooks (standardwebhooks.com): its signature is the
 * HMAC-SHA256 of `id.timestamp.body` under the key inside `whsec_…`. Without a secret the message is not signed.
 * @param message.atMs when this attempt is sent, in milliseconds since the epoch
 */
export function webhookHeaders(message: {
  id: string;
  atMs: number;
  body: string;
  secret: string | undefined;
}): Record<string, string> {
  const timestamp = String(Math.floor(message.atMs / 1_000));
  const headers = { 'webhook-id': message.id, 'webhook-timestamp': timestamp };
  const key = message.secret === undefined ? null : readSigningKey(message.secret);
  if (key === null) return headers;
  const signature = createHmac('sha256', key)
    .update(`${message.id}.${timestamp}.${message.body}`)
    .digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}
