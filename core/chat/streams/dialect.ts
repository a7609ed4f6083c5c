import { isObject, type JsonObject } from '../../json-values/mod.ts';
import type { StreamEvent } from './assembler.ts';

/** The formats of a streamed answer: OpenAI's chat completions, older completions and Responses, Anthropic's Messages. */
export type Dialect = 'chat' | 'completions' | 'responses' | 'messages';

const MESSAGES_EVENTS: ReadonlySet<string> = new Set([
  'message_start',
  'message_delta',
  'message_stop',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
]);

/** Returns the dialect that an event belongs to; null when no dialect has such events, or several do. */
export function dialectOf({ type, data }: StreamEvent): Dialect | null {
  if (type !== null && MESSAGES_EVENTS.has(type)) return 'messages';
  if (type?.startsWith('response.')) return 'responses';
  const choice = Array.isArray(data.choices) ? data.choices.find(isObject) : undefined;
  return choice === undefined ? null : dialectOfChoice(choice, data.object);
}

/** Some providers send `text` beside the delta, and some call chunks of chats `text_completion`. */
function dialectOfChoice(choice: JsonObject, object: unknown): Dialect {
  if (object === 'chat.completion.chunk') return 'chat';
  if (typeof choice.text === 'string') return 'completions';
  return object === 'text_completion' && !isObject(choice.delta) ? 'completions' : 'chat';
}
