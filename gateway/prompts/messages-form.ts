/** Stored prompts for Anthropic's Messages. */
import { invalidField } from '#core/contracts/invalid.ts';
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import { ANSWER_TOOL, readChatRequest, writeMessagesRequest } from '../dialects/mod.ts';

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

/** Stands in for the call's messages, for prompts that have none but the system's: the translation needs one. */
const ANY_TURN = { role: 'user', content: '-' };
const SYSTEM_ROLES: ReadonlySet<unknown> = new Set(['system', 'developer']);

/**
 * Rewrites the body of a chat completion as one of Messages. Fields that the body does not have stay absent.
 * @param callModel the model of the call, which may decide how fields are expressed; null: the body's
 * @throws AssayError invalid_body, naming the field that Messages cannot express
 */
export function toMessagesForm(body: JsonObject, callModel: string | null): JsonObject {
  const given = body.messages ?? [];
  const isSystemOnly =
    Array.isArray(given) && given.every((item) => isObject(item) && SYSTEM_ROLES.has(item.role));
  const {
    model: _,
    max_tokens: maxTokens,
    messages,
    ...rewritten
  } = writeMessagesRequest(
    readChatRequest({ ...body, messages: isSystemOnly ? [...given, ANY_TURN] : given }),
    { model: callModel ?? textOrNull(body.model) ?? '', maxTokensDefault: ANY_LIMIT },
  );
  // The client would get the tool's call for a text: only the translation of a response turns it back.
  if (itemsOf(rewritten.tools).some(({ name }) => name === ANSWER_TOOL))
    throw invalidField('response_format', 'cannot be expressed for this model: ask for JSON in a message');
  return {
    ...(body.model !== undefined && { model: body.model }),
    ...(LIMITS.some((name) => body[name] !== undefined) && { max_tokens: maxTokens }),
    ...(!isSystemOnly && { messages }),
    ...rewritten,
  };
}
