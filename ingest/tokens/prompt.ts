/** The texts of a request that a model reads, and the tokens around them, as OpenAI counts; other providers come close. */
import type { JsonObject } from '#core/json/mod.ts';
import { responseFormatText, toolsText } from './definitions.ts';
import { type Countable, TextCollector } from './text-collector.ts';

/** Tokens around each message, including its role. */
const MESSAGE_TOKENS = 4;
/** Tokens that begin the answer, which OpenAI counts with the prompt. */
const PRIMING_TOKENS = 3;

/** Returns the prompt of a conversation: chat completions, Messages, Responses. Null when it has no messages. */
export function countableConversation(request: JsonObject): Countable | null {
  const turns = turnsOf(request);
  if (turns.length === 0) return null;
  const collector = new TextCollector();
  for (const turn of turns) {
    collector.addTokens(MESSAGE_TOKENS);
    collector.add(turn);
  }
  collector.add(toolsText(request));
  collector.add(responseFormatText(request));
  collector.addTokens(PRIMING_TOKENS);
  return collector.countable();
}

/** Returns the messages, preceded by the system prompt or instructions. */
function turnsOf({ messages, input, system, instructions }: JsonObject): unknown[] {
  const asked = Array.isArray(messages) ? messages : typeof input === 'string' ? [input] : input;
  const turns = Array.isArray(asked) ? asked : [];
  return [system, instructions, ...turns].filter((turn) => turn !== undefined && turn !== null);
}

/** Returns the prompt of a completion or the input of embeddings: texts or token numbers, one or a list of them. */
export function countablePlain(input: unknown): Countable | null {
  const collector = new TextCollector();
  const items = Array.isArray(input) ? input : [input];
  for (const item of items) {
    if (typeof item === 'string') collector.add(item);
    else if (typeof item === 'number') collector.addTokens(1);
    else if (Array.isArray(item)) collector.addTokens(item.length);
  }
  return collector.countable();
}
