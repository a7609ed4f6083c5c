/** What of a request a model reads, and how many tokens stand around it: as OpenAI counts, to which others come close. */
import type { JsonObject } from '#core/json/mod.ts';
import { responseFormatText, toolsText } from './definitions.ts';
import { type Countable, TextCollector } from './text-collector.ts';

/** Around each message, its role among them. */
const MESSAGE_TOKENS = 4;
/** What the answer begins with. */
const PRIMING_TOKENS = 3;

/** The prompt of a conversation: chat completions, Messages, Responses. Null when there is nothing to be read. */
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

/** Messages and what stands before them, each once. */
function turnsOf({ messages, input, system, instructions }: JsonObject): unknown[] {
  const asked = Array.isArray(messages) ? messages : typeof input === 'string' ? [input] : input;
  const turns = Array.isArray(asked) ? asked : [];
  return [system, instructions, ...turns].filter((turn) => turn !== undefined && turn !== null);
}

/** The prompt of a completion or the input of embeddings: text or token numbers, one or a list of them. */
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
