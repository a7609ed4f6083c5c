/** What a judge has said: its completion, in the shapes that providers and proxies give it. */
import { readUsage, type Usage } from '#core/chat/mod.ts';
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';

/** A call of a tool. Arguments are mostly the text of JSON; some servers give the value itself. */
export type ToolCall = { name: string; arguments: unknown };

export type Said = {
  /** What the judge wrote; empty when it wrote nothing. */
  text: string;
  toolCalls: ToolCall[];
  refusal: string | null;
  /** In lower case; empty when there is none. */
  finishReason: string;
};

export type Completion = {
  model: string | null;
  usage: Usage | null;
  /** Null when the body is no completion, or one without a message. */
  said: Said | null;
};

const NOTHING: Completion = { model: null, usage: null, said: null };

/** Reads the body of an answer with a status of success. Never throws. */
export function readCompletion(text: string): Completion {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return NOTHING;
  }
  if (!isObject(body)) return NOTHING;
  return { model: textOrNull(body.model), usage: readUsage(body), said: readSaid(body) };
}

function readSaid(body: JsonObject): Said | null {
  const choice = Array.isArray(body.choices) ? (body.choices[0] as unknown) : null;
  // OpenRouter tells of a provider's error inside of a completion.
  if (!isObject(choice) || isObject(choice.error) || isObject(body.error)) return null;
  const { message } = choice;
  const finishReason = (textOrNull(choice.finish_reason) ?? '').toLowerCase();
  if (!isObject(message)) {
    // A filter may leave no message at all.
    return finishReason === '' ? null : { text: '', toolCalls: [], refusal: null, finishReason };
  }
  const refusal = textOrNull(message.refusal);
  return {
    text: contentText(message.content),
    toolCalls: readToolCalls(message),
    refusal: refusal !== null && refusal.trim() !== '' ? refusal : refusalPart(message.content),
    finishReason,
  };
}

/** A text, or the text parts of a list: thoughts and calls of tools are parts of their own. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((part: unknown) => {
      if (typeof part === 'string') return [part];
      const isText =
        isObject(part) && (part.type === undefined || part.type === 'text' || part.type === 'output_text');
      return isText && typeof part.text === 'string' ? [part.text] : [];
    })
    .join('\n');
}

function refusalPart(content: unknown): string | null {
  if (!Array.isArray(content)) return null;
  const part = (content as unknown[]).find((item) => isObject(item) && item.type === 'refusal');
  return isObject(part) ? (textOrNull(part.refusal) ?? 'refused') : null;
}

/** `tool_calls`, the older `function_call`, and Anthropic's `tool_use` among the content. */
function readToolCalls(message: JsonObject): ToolCall[] {
  const { tool_calls: calls, function_call: call, content } = message;
  const listed = Array.isArray(calls) ? (calls as unknown[]) : [];
  const found = listed.map((item) => (isObject(item) ? toolCall(item.function ?? item) : null));
  if (found.length === 0) found.push(toolCall(call));
  if (Array.isArray(content)) {
    const uses = (content as unknown[]).filter((part) => isObject(part) && part.type === 'tool_use');
    found.push(...uses.map(toolCall));
  }
  return found.filter((item) => item !== null);
}

function toolCall(value: unknown): ToolCall | null {
  if (!isObject(value) || typeof value.name !== 'string') return null;
  return { name: value.name, arguments: value.arguments ?? value.input ?? value.parameters ?? '' };
}
