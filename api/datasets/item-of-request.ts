/** Makes an item of a logged request, or tells why it cannot be one. */
import type { FromRequestsBody, SkipReason } from '#core/contracts/dataset-sources.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { type ReadItem, readItem } from '#core/datasets/mod.ts';
import { editMembers, isObject, JsonFault, parseExactJson, scanMembers } from '#core/json/mod.ts';
import { answerOf } from '#core/messages/mod.ts';
import type { SourceRow } from './source-store.ts';

/** Members that say how an answer is delivered, which is for whoever puts the request again to decide. */
const DROPPED = ['stream', 'stream_options'];

/** Deeper than any item may be. */
const MAX_DEPTH = 512;

export function itemOfRequest(row: SourceRow, options: FromRequestsBody): ReadItem | SkipReason {
  if (row.is_too_large) return 'body_too_large';
  const request = withoutDelivery(bytesOf(row.request_raw, row.request_text));
  if (request === null) return 'no_chat_body';
  const expected = expectedOf(row, options);
  if (expected === null && options.expected === 'answer') return 'no_answer';
  if (expected === null && options.expected === 'logged') return 'no_expected';
  const { cluster = 'session' } = options;
  const clusterId = { session: row.session_id, user: row.user_id, none: null }[cluster];
  const named = JSON.stringify({
    externalId: row.request_id,
    sourceRequestId: row.request_id,
    ...(clusterId === null ? {} : { cluster: clusterId }),
    ...(options.split === undefined ? {} : { split: options.split }),
  });
  const text = [
    `${named.slice(0, -1)},"request":${request}`,
    expected === null ? '' : `,"expected":${expected}`,
    row.inputs === null ? '' : `,"metadata":{"inputs":${row.inputs}}`,
    '}',
  ].join('');
  return readChat(Buffer.from(text), row.request_id);
}

/** Returns what an item's answer should be as JSON: the logged answer, or what was logged beside it; null: it is not known. */
function expectedOf(row: SourceRow, options: FromRequestsBody): string | null {
  if (options.expected === 'answer') return answerText(bytesOf(row.response_raw, row.response_text));
  return options.expected === 'logged' ? row.expected : null;
}

/** Reads an item whose request has messages; its bounds are those of every item. */
function readChat(bytes: Buffer, requestId: string): ReadItem | SkipReason {
  try {
    const item = readItem(bytes, { whole: `Request ${requestId}`, prefix: `Request ${requestId}: ` }, null);
    const { messages } = item.values.request as { messages?: unknown[] };
    return messages === undefined || messages.length === 0 ? 'no_chat_body' : item;
  } catch (error) {
    if (!(error instanceof AssayError)) throw error;
    return error.message.includes('bytes, of which at most') ? 'body_too_large' : 'no_chat_body';
  }
}

function bytesOf(raw: Buffer | null, text: string | null): Buffer {
  return raw ?? Buffer.from(text ?? '');
}

/** Returns the JSON of a request's body without the members above; null: it is no JSON object. */
function withoutDelivery(bytes: Buffer): string | null {
  try {
    const scanned = scanMembers(bytes, { names: DROPPED, maxDepth: MAX_DEPTH });
    if (!scanned.isObject) return null;
    const changes = DROPPED.map((name) => ({ kind: 'drop' as const, name }));
    return Buffer.concat(editMembers(bytes, scanned, changes)).toString();
  } catch (error) {
    if (error instanceof JsonFault) return null;
    throw error;
  }
}

/**
 * Returns the answer of a response's body as JSON: its text; its whole message where that calls tools; null: there is none.
 */
function answerText(bytes: Buffer): string | null {
  let body: unknown;
  try {
    body = parseExactJson(bytes.toString());
  } catch {
    return null;
  }
  const message = answerOf(body);
  if (!isObject(message)) return null;
  const { content, tool_calls: calls } = message;
  if (Array.isArray(calls) && calls.length > 0) return JSON.stringify(message);
  return typeof content === 'string' && content !== '' ? JSON.stringify(content) : null;
}
