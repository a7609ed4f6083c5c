/** The parts of an answer that a model wrote. */
import { isObject, type JsonObject } from '#core/json/mod.ts';
import { type Countable, TextCollector } from './text-collector.ts';

/**
 * Returns the text, reasoning and tool calls of an answer in any dialect: chat completions, completions, Messages,
 * Responses. Null when it has none of them. Reasoning that a provider does not return cannot be counted.
 */
export function countableAnswer({ choices, content, output }: JsonObject): Countable | null {
  const collector = new TextCollector();
  if (Array.isArray(choices)) for (const choice of choices) addChoice(collector, choice);
  else collector.add(content ?? output);
  return collector.countable();
}

function addChoice(collector: TextCollector, choice: unknown): void {
  if (!isObject(choice)) return;
  collector.add(choice.message);
  collector.add(choice.text);
}

/** Returns whether an answer is a list of embeddings, or the skeleton of one that the caller asked not to log. */
export function isEmbeddings({ object, data }: JsonObject): boolean {
  if (object !== 'list') return false;
  return data === undefined || (Array.isArray(data) && isObject(data[0]) && data[0].embedding !== undefined);
}
