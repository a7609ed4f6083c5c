import { assembleStream } from '#core/chat/mod.ts';
import { decodeAnswer } from '#core/schema/content-encoding.ts';
import type { Outcome } from './call.ts';

/** The completion that an answer is, put together when it was streamed; null when it is none. */
export function completionOf({ responseBody, contentEncoding, stream }: Outcome): unknown {
  try {
    const text = decodeAnswer(responseBody, contentEncoding).toString('utf8');
    return stream ? assembleStream(text).completion : JSON.parse(text);
  } catch {
    return null;
  }
}
