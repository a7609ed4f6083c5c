/** Makes a call of the playground and reads its answer as it arrives. */
import type { PlaygroundBody } from '#core/contracts/playground.ts';
import { isObject } from '#core/json-values/mod.ts';
import { readFailure, send } from '../../client/call.ts';
import { LiveText } from './live-text.ts';

export type CallListener = {
  /** The gateway has answered. */
  onHead: (head: { requestId: string | null; status: number }) => void;
  /** The first bytes of a stream. */
  onFirst: () => void;
  /** More text of the answer. */
  onText: (text: string) => void;
};

/** An answer to its end, or as far as it came. */
export type RawAnswer = { text: string; isStream: boolean };

/** Whether a text is an error of the API itself, rather than of the gateway or a provider. */
function isOwnError(text: string): boolean {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) && body.data === null && typeof body.error === 'string';
  } catch {
    return false;
  }
}

async function readStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  answer: RawAnswer,
  { onFirst, onText }: CallListener,
): Promise<void> {
  const live = new LiveText();
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    if (value === undefined || value === '') continue;
    if (answer.text === '') onFirst();
    answer.text += value;
    const text = live.take(value);
    if (text !== '') onText(text);
  }
}

/**
 * Makes a call. `answer` grows while it arrives, so that what came before a stop is not lost.
 * @throws ApiFailure: the API itself refused, or was not reached; AbortError
 */
export async function runCall(
  call: PlaygroundBody,
  answer: RawAnswer,
  listener: CallListener,
  signal: AbortSignal,
): Promise<void> {
  const response = await send('POST', '/v1/playground', call, signal);
  const { status, headers } = response;
  answer.isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (answer.isStream && response.body !== null) {
    listener.onHead({ requestId: headers.get('service-request-id'), status });
    await readStream(response.body, answer, listener);
    return;
  }
  answer.text = await response.text();
  if (!response.ok && isOwnError(answer.text))
    throw await readFailure(new Response(answer.text, { status, headers }));
  listener.onHead({ requestId: headers.get('service-request-id'), status });
}
