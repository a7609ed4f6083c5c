import type { StreamEvent } from './assembler.ts';

/**
 * The error that an event tells: Anthropic's and OpenAI's `error` events, whose data has it as a member or is it, and
 * the bare `{"error": …}` that OpenAI's completions and gateways send. Undefined when it tells none.
 */
export function errorOf({ type, data }: StreamEvent): unknown {
  const isBare = typeof data.type !== 'string';
  if (type !== 'error' && !isBare) return undefined;
  if (data.error !== undefined && data.error !== null && data.error !== '') return data.error;
  if (type !== 'error') return undefined;
  const { type: _type, sequence_number: _number, ...error } = data;
  return error;
}
