/** A request as it goes over the wire. */
import { AssayError } from '#core/contracts/errors.ts';
import { isHeaderText } from '../http-server/mod.ts';
import type { ProviderRequest } from './exchange.ts';

/** Up to here head and body are sent as one piece: copying costs less than a second system call. */
const COPIED_BYTES = 64 * 1024;
/** Without spaces and line breaks: else a model's name could write headers of its own. */
const PATH = /^\/[\x21-\x7e]*$/;

/** Its head and its body; null: the first holds both. */
export type RequestBytes = [Buffer, Buffer | null];

/**
 * What is written of a request.
 * @param host as the address has it
 * @throws AssayError provider_not_configured when a header or the path has characters that it cannot have: they come
 *   from settings and stored keys, what callers send was checked when it came
 */
export function requestBytes({ label, path, headers, body }: ProviderRequest, host: string): RequestBytes {
  if (!PATH.test(path)) throw unwritable(label, 'path');
  let head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1]!;
    if (!isHeaderText(value)) throw unwritable(label, `header ${headers[at]}`);
    head += `${headers[at]}: ${value}\r\n`;
  }
  head += `content-length: ${body.length}\r\n\r\n`;
  if (body.length > COPIED_BYTES) return [Buffer.from(head, 'latin1'), body];
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 'latin1');
  body.copy(bytes, head.length);
  return [bytes, null];
}

function unwritable(label: string, part: string): AssayError {
  return new AssayError(
    'provider_not_configured',
    `The ${part} for the provider ${label} has a character that HTTP does not allow there`,
  );
}
