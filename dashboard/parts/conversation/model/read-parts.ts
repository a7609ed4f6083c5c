/** Parts of messages, in every dialect: OpenAI's chat completions and Responses, Anthropic's Messages, Gemini's, Mistral's. */
import { isObject, type JsonObject, parseExactJson } from '#core/json-values/mod.ts';
import { bytesOfBase64, claimedType, withoutDataPrefix } from '../../record/read-image.ts';
import { type Keeper, shortText } from './keeper.ts';
import type { Part } from './types.ts';

/** Parts of one message; the rest is a tree. */
const MOST_PARTS = 200;
/** Results of tools hold parts, too, and no real one holds another result. */
const DEEPEST = 3;
/** UTF-16 code units of arguments and results that are read as JSON. */
const LONGEST_JSON = 1024 * 1024;

/** Returns the parts of a message's content. */
export function readContent(content: unknown, keeper: Keeper, depth = 0): Part[] {
  if (content === null || content === undefined || content === '') return [];
  if (typeof content === 'string') return [{ kind: 'text', text: keeper.text(content) }];
  if (!Array.isArray(content)) return readPart(content, keeper, depth);
  const parts = (content as unknown[]).slice(0, MOST_PARTS).flatMap((part) => readPart(part, keeper, depth));
  const rest = (content as unknown[]).slice(MOST_PARTS);
  if (rest.length > 0)
    parts.push({ kind: 'data', label: `${rest.length} more parts`, root: keeper.tree(rest, 'parts') });
  return parts;
}

function readPart(part: unknown, keeper: Keeper, depth: number): Part[] {
  if (typeof part === 'string') return [{ kind: 'text', text: keeper.text(part) }];
  if (!isObject(part)) return [dataPart(part, 'Part', keeper)];
  const readers = [readTextPart, readImagePart, readFilePart, readToolCall];
  for (const read of readers) {
    const found = read(part, keeper);
    if (found !== null) return [found];
  }
  if (depth < DEEPEST) {
    const result = readToolResult(part, keeper, depth);
    if (result !== null) return [result];
  }
  if (part.type === 'message') return readContent(part.content, keeper, depth + 1);
  return [dataPart(part, shortText(part.type) ?? 'Part', keeper)];
}

/** Returns a value that no reader knows, as a tree. */
export function dataPart(value: unknown, label: string, keeper: Keeper): Part {
  return { kind: 'data', label, root: keeper.tree(value, label) };
}

/** Joins the texts of a list such as a reasoning summary; null when there is none. */
export function joinTexts(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return null;
  const texts = (value as unknown[]).flatMap((item) => {
    const text = isObject(item) ? item.text : item;
    return typeof text === 'string' ? [text] : [];
  });
  return texts.length === 0 ? null : texts.join('\n\n');
}

function readTextPart(part: JsonObject, keeper: Keeper): Part | null {
  const { type, text, thought, refusal } = part;
  const thinking = type === 'reasoning' ? thoughtsOf(part) : joinTexts(part.thinking);
  if (thinking !== null) return { kind: 'thinking', text: keeper.text(thinking) };
  if (typeof refusal === 'string') return { kind: 'refusal', text: keeper.text(refusal) };
  if (type === 'redacted_thinking' || type === 'reasoning')
    return { kind: 'chip', label: 'Thinking', detail: 'encrypted by the provider' };
  if (typeof text !== 'string') return null;
  if (thought === true || type === 'reasoning_text' || type === 'summary_text')
    return { kind: 'thinking', text: keeper.text(text) };
  return { kind: 'text', text: keeper.text(text) };
}

function thoughtsOf({ summary, content, text }: JsonObject): string | null {
  return joinTexts(content) ?? joinTexts(summary) ?? joinTexts(text);
}

function readImagePart(part: JsonObject, keeper: Keeper): Part | null {
  const { type, image_url: imageUrl, source, inlineData, inline_data: inlineData2 } = part;
  const address = isObject(imageUrl) ? imageUrl.url : imageUrl;
  if (typeof address === 'string') return imageAt(address, keeper);
  if (type === 'image_generation_call' && typeof part.result === 'string')
    return imagePart(part.result, null, keeper);
  if (type === 'image' && isObject(source)) {
    if (typeof source.data === 'string') return imagePart(source.data, source.media_type, keeper);
    if (typeof source.url === 'string') return imageAt(source.url, keeper);
    return { kind: 'chip', label: 'Image', detail: shortText(source.file_id) ?? 'a file of the provider' };
  }
  const inline = inlineData ?? inlineData2;
  if (isObject(inline) && typeof inline.data === 'string') {
    const media = inline.mimeType ?? inline.mime_type;
    if (typeof media !== 'string' || media.startsWith('image/')) return imagePart(inline.data, media, keeper);
    return { kind: 'chip', label: shortText(media)!, detail: sizeOf(inline.data) };
  }
  return null;
}

function imageAt(address: string, keeper: Keeper): Part {
  return /^data:/i.test(address)
    ? imagePart(address, claimedType(address), keeper)
    : { kind: 'remote-image', address: address.slice(0, 2_000) };
}

function imagePart(data: string, type: unknown, keeper: Keeper): Part {
  const bytes = bytesOfBase64(withoutDataPrefix(data));
  return { kind: 'image', type: shortText(type), bytes, path: keeper.keep(data) };
}

function sizeOf(base64: string): string {
  return `${Math.ceil(bytesOfBase64(withoutDataPrefix(base64)) / 1024)} KiB`;
}

function readFilePart(part: JsonObject, keeper: Keeper): Part | null {
  const { type, source } = part;
  if (type === 'input_audio' || type === 'audio') {
    const audio = isObject(part.input_audio) ? part.input_audio : part;
    const size = typeof audio.data === 'string' ? sizeOf(audio.data) : 'a file of the provider';
    return {
      kind: 'chip',
      label: 'Audio',
      detail: [shortText(audio.format), size].filter(Boolean).join(', '),
    };
  }
  if (type === 'document' && isObject(source) && source.type === 'text' && typeof source.data === 'string')
    return { kind: 'text', text: keeper.text(source.data) };
  const fileData = part.fileData ?? part.file_data;
  if (type !== 'file' && type !== 'input_file' && type !== 'document' && !isObject(fileData)) return null;
  const file = [part.file, fileData, source, part].find(isObject)!;
  const names = [file.filename, part.title, file.file_id, file.fileUri, file.url, file.file_url];
  const data = file.file_data ?? file.data;
  const detail = [names.map(shortText).find(Boolean), typeof data === 'string' ? sizeOf(data) : null];
  return { kind: 'chip', label: 'File', detail: detail.filter(Boolean).join(', ') };
}

/** Reads a tool call of any dialect; null: the value is something else. */
export function readToolCall(part: JsonObject, keeper: Keeper): Part | null {
  const inner = part.function ?? part.custom ?? part.functionCall ?? part;
  if (!isObject(inner) || typeof inner.name !== 'string') return null;
  const isCall = inner !== part || /(?:tool_use|_call)$/.test(String(part.type)) || 'arguments' in inner;
  if (!isCall) return null;
  const given = readJson(inner.arguments ?? inner.input ?? inner.args ?? {});
  return {
    kind: 'tool-call',
    name: shortText(inner.name) ?? '',
    id: shortText(part.call_id ?? part.id ?? inner.id),
    given: keeper.tree(given, 'arguments'),
  };
}

/** Returns the value of a text that is JSON of an object or an array; otherwise the text. */
function readJson(value: unknown): unknown {
  if (typeof value !== 'string' || value.length > LONGEST_JSON || !/^\s*[[{]/.test(value)) return value;
  try {
    return parseExactJson(value);
  } catch {
    return value;
  }
}

function readToolResult(part: JsonObject, keeper: Keeper, depth: number): Part | null {
  const { functionResponse, type } = part;
  if (isObject(functionResponse))
    return resultPart(functionResponse.response, shortText(functionResponse.name), false, keeper, depth);
  if (!/(?:tool_result|_call_output)$/.test(String(type))) return null;
  const id = shortText(part.tool_use_id ?? part.call_id);
  return resultPart(part.output ?? part.content, id, part.is_error === true, keeper, depth);
}

/** Returns the result of a tool. */
export function resultPart(
  content: unknown,
  id: string | null,
  isError: boolean,
  keeper: Keeper,
  depth = 0,
): Part {
  const value = readJson(content);
  const isContent = typeof value === 'string' || (Array.isArray(value) && value === content);
  const parts =
    isContent || value === null || value === undefined
      ? readContent(value, keeper, depth + 1)
      : [dataPart(value, 'Result', keeper)];
  return { kind: 'tool-result', id, isError, parts };
}
