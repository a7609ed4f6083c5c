import type { StreamEvent } from './assembler.ts';

/**
 * Returns the error in an event: Anthropic's and OpenAI's `error` events, whose data holds the error or is the error,
 * the bare `{"error": …}` of OpenAI's completions and of gateways, and the error that older versions of vLLM send as a
 * chunk of its own, `{"object": "error", "message": …}`. Undefined when the event has none.
 */
export function errorOf({ type, data }: StreamEvent): unknown {
  if (data.object === 'error') {
    const { object: _object, ...error } = data;
    return error;
  }
  const isBare = typeof data.type !== 'string';
  if (type !== 'error' && !isBare) return undefined;
  if (data.error !== undefined && data.error !== null && data.error !== '') return data.error;
  if (type !== 'error') return undefined;
  const { type: _type, sequence_number: _number, ...error } = data;
  return error;
}
