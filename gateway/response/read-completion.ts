import { assembleStream } from '#core/chat/mod.ts';
import { decodeContent } from '#platform/http-message/mod.ts';
import type { Outcome } from '../request/call.ts';

/**
 * A packed response that unpacks to more is not read, as all other calls wait meanwhile: 0.1 to 0.2 s for so much. Only the
 * usage of the very largest lists of embeddings stays unknown for that.
 */
const MAX_READ_BYTES = 32 * 1024 * 1024;

/** Returns the completion that a response is, put together when it was streamed; null when it is none. */
export function readCompletion({ responseBody, contentEncoding, stream }: Outcome): unknown {
  try {
    if (responseBody.length > MAX_READ_BYTES) return null;
    const text = decodeContent(responseBody, contentEncoding, MAX_READ_BYTES).toString('utf8');
    return stream ? assembleStream(text).completion : JSON.parse(text);
  } catch {
    return null;
  }
}
