/** Stored prompts for OpenAI's Responses. */
import { invalidField } from '#core/contracts/invalid.ts';
import { isObject, type JsonObject } from '#core/json/mod.ts';

/** Members with the same name and meaning in both. */
const SAME: ReadonlySet<string> = new Set([
  'metadata',
  'model',
  'parallel_tool_calls',
  'prompt_cache_key',
  'safety_identifier',
  'service_tier',
  'store',
  'temperature',
  'top_logprobs',
  'top_p',
  'user',
]);

/** The members of chat completions that Responses has under another name or in another shape. */
const RENAMED: Readonly<Record<string, (value: unknown) => JsonObject>> = {
  messages: (value) => ({ input: listAt(value, 'messages').flatMap(toItems) }),
  max_tokens: (value) => ({ max_output_tokens: value }),
  max_completion_tokens: (value) => ({ max_output_tokens: value }),
  reasoning_effort: (effort) => ({ reasoning: { effort } }),
  tools: (value) => ({ tools: listAt(value, 'tools').map(toTool) }),
  tool_choice: (value) => ({ tool_choice: toToolChoice(value) }),
  response_format: (value) => ({ text: { format: toFormat(value) } }),
  verbosity: (verbosity) => ({ text: { verbosity } }),
};

/**
 * Rewrites the body of a chat completion as one of Responses.
 * @throws AssayError invalid_body, naming the field that Responses cannot express
 */
export function toResponsesForm(body: JsonObject): JsonObject {
  const rewritten: JsonObject = {};
  for (const [name, value] of Object.entries(body)) {
    // A prompt may have a member of any name, such as `constructor`.
    const rename = Object.hasOwn(RENAMED, name) ? RENAMED[name] : undefined;
    if (SAME.has(name)) rewritten[name] = value;
    else if (rename === undefined) throw invalidField(name, 'is not a field of Responses');
    else {
      for (const [renamed, given] of Object.entries(rename(value))) {
        const before = rewritten[renamed];
        rewritten[renamed] = isObject(before) && isObject(given) ? { ...before, ...given } : given;
      }
    }
  }
  return rewritten;
}

function listAt(value: unknown, place: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw invalidField(place, 'must be an array');
}

function objectAt(value: unknown, place: string): JsonObject {
  if (isObject(value)) return value;
  throw invalidField(place, 'must be an object');
}

/** Returns the items of a message: one for its content, and one for each tool call. */
function toItems(value: unknown, index: number): JsonObject[] {
  const place = `messages[${index}]`;
  const { role, content, tool_calls: calls, tool_call_id: callId, ...rest } = objectAt(value, place);
  const [other] = Object.keys(rest).filter((name) => rest[name] !== null && rest[name] !== undefined);
  if (other !== undefined) throw invalidField(`${place}.${other}`, 'is not a field of Responses');
  if (role === 'tool')
    return [
      { type: 'function_call_output', call_id: callId, output: toContent(content, place, 'input_text') },
    ];
  const textType = role === 'assistant' ? 'output_text' : 'input_text';
  const said = content ?? '';
  const message =
    said === '' && calls !== undefined ? [] : [{ role, content: toContent(said, place, textType) }];
  const called = calls === undefined ? [] : listAt(calls, `${place}.tool_calls`);
  return [...message, ...called.map((call, at) => toCall(call, `${place}.tool_calls[${at}]`))];
}

function toContent(content: unknown, place: string, textType: string): unknown {
  if (typeof content === 'string') return content;
  return listAt(content, `${place}.content`).map((value, at) => {
    const partPlace = `${place}.content[${at}]`;
    const { type, text, image_url: image } = objectAt(value, partPlace);
    if (type === 'text') return { type: textType, text };
    if (type === 'image_url' && textType === 'input_text') {
      const { url, detail } = objectAt(image, `${partPlace}.image_url`);
      return { type: 'input_image', image_url: url, ...(detail !== undefined && { detail }) };
    }
    throw invalidField(`${partPlace}.type`, 'must be "text", or "image_url" in what the user says');
  });
}

function toCall(value: unknown, place: string): JsonObject {
  const { id, function: called } = objectAt(value, place);
  const { name, arguments: given } = objectAt(called, `${place}.function`);
  return { type: 'function_call', call_id: id, name, arguments: given };
}

function toTool(value: unknown, index: number): JsonObject {
  const { type, function: definition } = objectAt(value, `tools[${index}]`);
  if (type !== 'function') throw invalidField(`tools[${index}].type`, 'must be "function"');
  // Responses takes a function as strict unless it says otherwise, chat completions the other way round.
  return { type, strict: false, ...objectAt(definition, `tools[${index}].function`) };
}

function toToolChoice(value: unknown): unknown {
  if (typeof value === 'string') return value;
  const { type, function: chosen } = objectAt(value, 'tool_choice');
  if (type !== 'function') throw invalidField('tool_choice.type', 'must be "function"');
  return { type, name: objectAt(chosen, 'tool_choice.function').name };
}

function toFormat(value: unknown): JsonObject {
  const { type, json_schema: schema } = objectAt(value, 'response_format');
  if (type !== 'json_schema') return { type };
  return { type, ...objectAt(schema, 'response_format.json_schema') };
}
