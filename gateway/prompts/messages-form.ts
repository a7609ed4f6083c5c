/** Stored prompts for Anthropic's Messages. */
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import { toMessagesRequest } from '../providers/anthropic/mod.ts';

/** Members that only Messages has. */
const OWN_MEMBERS = ['system', 'stop_sequences'];
/** Types of content that only Messages has. */
const OWN_CONTENT: ReadonlySet<unknown> = new Set([
  'document',
  'image',
  'redacted_thinking',
  'thinking',
  'tool_result',
  'tool_use',
]);
/** Stands in for a limit that the prompt does not have. The call's own takes its place. */
const ANY_LIMIT = 8_192;
const LIMITS = ['max_tokens', 'max_completion_tokens', 'reasoning_effort', 'thinking'];

/** Returns whether a body is in the form of Messages, and can have no other. */
export function isMessagesForm({ messages, tools, ...body }: JsonObject): boolean {
  if (OWN_MEMBERS.some((name) => body[name] !== undefined)) return true;
  if (itemsOf(tools).some((tool) => tool.input_schema !== undefined)) return true;
  return itemsOf(messages).some(({ content }) => itemsOf(content).some(({ type }) => OWN_CONTENT.has(type)));
}

function itemsOf(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/**
 * Rewrites the body of a chat completion as one of Messages. Fields that the body does not have stay absent.
 * @throws AssayError invalid_body, naming the field that Messages cannot express
 */
export function toMessagesForm(body: JsonObject): JsonObject {
  const {
    model,
    max_tokens: maxTokens,
    ...rewritten
  } = toMessagesRequest(
    { ...body, messages: body.messages ?? [] },
    { model: textOrNull(body.model) ?? '', maxTokensDefault: ANY_LIMIT },
  );
  return {
    ...(body.model !== undefined && { model }),
    ...(LIMITS.some((name) => body[name] !== undefined) && { max_tokens: maxTokens }),
    ...rewritten,
  };
}
