/** Reads the parts of a chat message's content. */
import type { JsonObject } from '#core/json/mod.ts';
import type { CacheControl, DocumentPart, ImagePart, TextPart } from '../conversation.ts';
import {
  arrayAt,
  isAbsent,
  nameAt,
  objectAt,
  onlyFields,
  optionalObject,
  optionalText,
  refuse,
  textAt,
} from '../fields.ts';
import { readDataUri } from '../media.ts';

/** Returns a part's breakpoint, an extension of Anthropic's. OpenAI's own hint for its cache is left out. */
function cacheControlOf(part: JsonObject, field: string): CacheControl {
  return optionalObject(part.cache_control, `${field}.cache_control`);
}

/** Returns a text part; an empty text is left out, because Anthropic refuses it. */
function textPart(text: string, cacheControl: CacheControl): TextPart[] {
  return text === '' ? [] : [{ type: 'text', text, cacheControl }];
}

/**
 * Reads a content that may hold only texts: of the system, the assistant or a tool.
 * @throws AssayError invalid_body
 */
export function readTexts(content: unknown, field: string, cacheControl: CacheControl = null): TextPart[] {
  if (isAbsent(content)) return [];
  if (typeof content === 'string') return textPart(content, cacheControl);
  return arrayAt(content, field).flatMap((value, index) => {
    const at = `${field}[${index}]`;
    const part = objectAt(value, at);
    if (part.type === 'text') return textPart(textAt(part.text, `${at}.text`), cacheControlOf(part, at));
    if (part.type === 'refusal') return textPart(textAt(part.refusal, `${at}.refusal`), null);
    return refuse(`${at}.type`, 'must be text');
  });
}

/** Reads a user's content. @throws AssayError invalid_body */
export function readUserParts(content: unknown, field: string): (TextPart | ImagePart | DocumentPart)[] {
  if (typeof content === 'string') return textPart(content, null);
  return arrayAt(content, field).flatMap((value, index) => readUserPart(value, `${field}[${index}]`));
}

function readUserPart(value: unknown, field: string): (TextPart | ImagePart | DocumentPart)[] {
  const part = objectAt(value, field);
  const cacheControl = cacheControlOf(part, field);
  switch (part.type) {
    case 'text':
      return textPart(textAt(part.text, `${field}.text`), cacheControl);
    case 'image_url':
      return [readImage(objectAt(part.image_url, `${field}.image_url`), `${field}.image_url`, cacheControl)];
    case 'file':
      return [readFile(objectAt(part.file, `${field}.file`), `${field}.file`, cacheControl)];
    case 'input_audio':
      return refuse(field, "is audio, which Anthropic's models do not take");
    default:
      return refuse(`${field}.type`, 'must be text, image_url or file');
  }
}

const IMAGE_FIELDS: ReadonlySet<string> = new Set(['url', 'detail']);

/** Reads an image. Anthropic has no counterpart of the details `low` (scaled down) and `original` (not scaled). */
function readImage(image: JsonObject, field: string, cacheControl: CacheControl): ImagePart | DocumentPart {
  onlyFields(image, IMAGE_FIELDS, field, 'is not known');
  if (!isAbsent(image.detail) && image.detail !== 'auto' && image.detail !== 'high')
    refuse(`${field}.detail`, "must be auto or high for Anthropic's models");
  const url = nameAt(image.url, `${field}.url`);
  if (/^https?:/i.test(url)) return { type: 'image', source: { type: 'url', url }, cacheControl };
  const { kind, source } = readDataUri(url, `${field}.url`);
  return kind === 'image'
    ? { type: kind, source, cacheControl }
    : { type: kind, source, title: null, cacheControl };
}

const FILE_FIELDS: ReadonlySet<string> = new Set(['file_data', 'filename']);

function readFile(file: JsonObject, field: string, cacheControl: CacheControl): ImagePart | DocumentPart {
  if (!isAbsent(file.file_id)) refuse(`${field}.file_id`, 'is a file at OpenAI, which Anthropic cannot read');
  onlyFields(file, FILE_FIELDS, field, 'is not known');
  const title = optionalText(file.filename, `${field}.filename`);
  const { kind, source } = readDataUri(nameAt(file.file_data, `${field}.file_data`), `${field}.file_data`);
  return kind === 'image'
    ? { type: kind, source, cacheControl }
    : { type: kind, source, title, cacheControl };
}
