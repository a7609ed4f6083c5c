/** The head of an answer as text, a character for each byte (RFC 9112, section 4). Pure. */
import { STATUS_CODES } from 'node:http';
import { isHeaderText, isToken } from '../../http-message/mod.ts';

export type AnswerHead = {
  status: number;
  pairs: Iterable<[string, string]>;
  /** Bytes of its body; `chunked`; null: there is none, or its end is the end of the connection. */
  framing: number | 'chunked' | null;
  /** For how long the connection is kept, in seconds; null: it is not. */
  keptForS: number | null;
  /** The moment, as `Date` has it. */
  date: string;
};

/** Written here and nowhere else: what belongs to one connection, and the line that every answer has. */
const OURS = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'x-content-type-options',
]);

/**
 * Every answer has it, relayed ones too: they come from this origin, and what a provider calls JSON is the text of a model,
 * which no browser may take for a page or a script. Clients of an API do not look at it.
 */
const NO_SNIFFING = 'x-content-type-options: nosniff\r\n';

/**
 * Writes a head, with the empty line at its end.
 * @throws Error for what may not be in a header
 */
export function formatAnswerHead({ status, pairs, framing, keptForS, date }: AnswerHead): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  let hasDate = false;
  for (const [name, value] of pairs) {
    if (!isToken(name) || !isHeaderText(value))
      throw new Error(`The header ${JSON.stringify(name)} is not valid`);
    const lower = name.toLowerCase();
    if (OURS.has(lower)) continue;
    if (lower === 'date') hasDate = true;
    text += `${name}: ${value}\r\n`;
  }
  text += hasDate ? NO_SNIFFING : `${NO_SNIFFING}date: ${date}\r\n`;
  if (typeof framing === 'number') text += `content-length: ${framing}\r\n`;
  else if (framing === 'chunked') text += 'transfer-encoding: chunked\r\n';
  return keptForS === null
    ? `${text}connection: close\r\n\r\n`
    : `${text}connection: keep-alive\r\nkeep-alive: timeout=${keptForS}\r\n\r\n`;
}
