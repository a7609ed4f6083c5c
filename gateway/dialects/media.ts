/** Images and documents inside request bodies. */

import type { MediaSource } from './conversation.ts';
import { refuse } from './fields.ts';

/** The images that Anthropic's Messages API takes: https://platform.claude.com/docs/en/build-with-claude/vision */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** A name that OpenAI takes for `image/jpeg`, and many clients make of the ending of a file. */
const JPG = 'image/jpg';

const DATA_URI = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*)(;base64)?,/i;

export type Media = { kind: 'image' | 'document'; source: MediaSource };

/**
 * Reads a `data:` URI: an image or a PDF in base64, or a text.
 * @throws AssayError invalid_body for other types
 */
export function readDataUri(uri: string, field: string): Media {
  const head = DATA_URI.exec(uri);
  if (head === null) return refuse(field, 'is not a data URI (data:<media type>;base64,<data>)');
  const named = (head[1] ?? 'text/plain').toLowerCase();
  const mediaType = named === JPG ? 'image/jpeg' : named;
  const data = uri.slice(head[0].length);
  const isBase64 = head[3] !== undefined;
  if (mediaType === 'text/plain') {
    const text = isBase64 ? Buffer.from(data, 'base64').toString('utf8') : decodePercents(data, field);
    return { kind: 'document', source: { type: 'text', text } };
  }
  if (!isBase64) return refuse(field, `must be base64 for ${mediaType}`);
  if (IMAGE_TYPES.has(mediaType)) return { kind: 'image', source: { type: 'base64', mediaType, data } };
  if (mediaType === 'application/pdf')
    return { kind: 'document', source: { type: 'base64', mediaType, data } };
  return refuse(
    field,
    `has the media type ${mediaType}; Anthropic takes ${[...IMAGE_TYPES].join(', ')}, application/pdf and text/plain`,
  );
}

function decodePercents(data: string, field: string): string {
  try {
    return decodeURIComponent(data);
  } catch {
    return refuse(field, 'has a percent sign that does not begin an encoded character');
  }
}

/** Returns a source as a URL: its own, or a `data:` URI. */
export function toUrl(source: MediaSource): string {
  switch (source.type) {
    case 'url':
      return source.url;
    case 'base64':
      return `data:${source.mediaType};base64,${source.data}`;
    case 'text':
      return `data:text/plain;base64,${Buffer.from(source.text, 'utf8').toString('base64')}`;
  }
}
