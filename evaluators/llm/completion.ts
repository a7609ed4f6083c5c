/** Parses a judge's completion, in the shapes that providers and proxies give it. */
import { readUsage, type Usage } from '#core/chat/mod.ts';
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';

/** A tool call. Arguments are usually JSON text; some servers send the value itself. */
export type ToolCall = { name: string; arguments: unknown };

/** The message of a judge's completion. */
export type JudgeMessage = {
  /** The text; empty when there is none. */
  text: string;
  toolCalls: ToolCall[];
  refusal: string | null;
  /** Lower case; empty when there is none. */
  finishReason: string;
};

/** A parsed completion. */
export type Completion = {
  model: string | null;
  usage: Usage | null;
  /** Null when the body is not a completion, or has no message. */
  message: JudgeMessage | null;
};

const UNREADABLE: Completion = { model: null, usage: null, message: null };

/** Parses the body of a successful response. Never throws. */
export function readCompletion(text: string): Completion {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return UNREADABLE;
  }
  if (!isObject(body)) return UNREADABLE;
  return { model: textOrNull(body.model), usage: readUsage(body), message: readMessage(body) };
}

function readMessage(body: JsonObject): JudgeMessage | null {
  const choice = Array.isArray(body.choices) ? (body.choices[0] as unknown) : null;
  // OpenRouter reports a provider's error inside a completion.
  if (!isObject(choice) || isObject(choice.error) || isObject(body.error)) return null;
  const { message } = choice;
  const finishReason = (textOrNull(choice.finish_reason) ?? '').toLowerCase();
  if (!isObject(message)) {
    // A content filter may leave only the finish reason.
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

/** Returns a text, or the joined text parts of a list: thoughts and tool calls are other parts. */
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

/** Reads `tool_calls`, the older `function_call`, and Anthropic's `tool_use` parts of the content. */
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
