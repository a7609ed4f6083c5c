/**
 * Checks the fields of a Messages request that goes to a model of another maker. The rule: a field that could change the
 * answer is translated or refused; only fields that cannot change it are left out.
 */
import { AssayError } from '#core/contracts/errors.ts';
import { isObject, type JsonObject } from '#core/json/mod.ts';
import { arrayAt, isAbsent, objectAt, refuse } from '../fields.ts';

const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'stream',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'metadata',
  'service_tier',
  'cache_control',
]);

/** Left out: they concern only Anthropic's cache. */
const HARMLESS: ReadonlySet<string> = new Set(['diagnostics']);

/**
 * Returns whether all edits of `context_management` concern the thinking of earlier turns, which other makers' models do not
 * get. Claude Code sends such an edit with each call.
 */
function clearsOnlyThinking(value: unknown): boolean {
  const { edits = [], ...others } = objectAt(value, 'context_management');
  if (Object.keys(others).length > 0) return false;
  return arrayAt(edits, 'context_management.edits').every(
    (edit) => isObject(edit) && typeof edit.type === 'string' && edit.type.startsWith('clear_thinking_'),
  );
}

/** @throws AssayError invalid_body, naming the first field that OpenAI's dialect cannot honour */
export function checkMessagesFields(body: JsonObject): void {
  for (const name in body) {
    const value = body[name];
    if (isAbsent(value) || TRANSLATED.has(name) || HARMLESS.has(name)) continue;
    if (name === 'speed' && value === 'standard') continue;
    if (name === 'context_management' && clearsOnlyThinking(value)) continue;
    if (name === 'thread')
      throw new AssayError(
        'threads_not_supported',
        "thread needs a model of Anthropic's, which stores conversations: send all messages of the conversation",
      );
    refuse(name, "cannot be translated to OpenAI's dialect");
  }
}
