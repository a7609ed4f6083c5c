import { isObject, type JsonObject } from '../../json/mod.ts';
import type { StreamEvent } from './assembler.ts';

/** The ways to tell a streamed answer: OpenAI's chat completions, older completions and Responses, Anthropic's Messages. */
export type Dialect = 'chat' | 'completions' | 'responses' | 'messages';

const OF_MESSAGES: ReadonlySet<string> = new Set([
  'message_start',
  'message_delta',
  'message_stop',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
]);

/** The dialect that an event belongs to; null when several have the like, or none. */
export function dialectOf({ type, data }: StreamEvent): Dialect | null {
  if (type !== null && OF_MESSAGES.has(type)) return 'messages';
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
