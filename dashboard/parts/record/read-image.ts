/** Images in base64. What a caller says of their type is not believed: the bytes decide. */
import type { ImageBytes } from './body-methods.ts';

/** Types that a browser draws without running anything. SVG is none of them. */
const SIGNATURES: readonly { type: string; begins: RegExp }[] = [
  { type: 'image/png', begins: /^\x89PNG\r\n.\n/ },
  { type: 'image/jpeg', begins: /^\xff\xd8\xff/ },
  { type: 'image/gif', begins: /^GIF8[79]a/ },
  { type: 'image/webp', begins: /^RIFF.{4}WEBP/s },
];
/** Bytes that a signature needs. */
const HEAD = 16;
/** UTF-16 code units of base64: 24 MiB of image. */
const LONGEST = 32 * 1024 * 1024;
const DATA_ADDRESS = /^data:([^,;]{0,100})[^,]{0,200},/i;

/** Returns the base64 of an image: of a `data:` address, or the text itself. */
export function withoutDataPrefix(text: string): string {
  const [prefix = ''] = DATA_ADDRESS.exec(text) ?? [];
  return text.slice(prefix.length);
}

/** Returns the type that a `data:` address claims; null: the text is none. */
export function claimedType(text: string): string | null {
  return DATA_ADDRESS.exec(text)?.[1]?.toLowerCase() ?? null;
}

/** @example bytesOfBase64('AAAA') // 3 */
export function bytesOfBase64(text: string): number {
  return Math.floor(((text.length - (/={1,2}$/.exec(text.slice(-2))?.[0].length ?? 0)) * 3) / 4);
}

function decode(base64: string): string | null {
  try {
    return atob(base64.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return null;
  }
}

/** Decodes an image; refuses anything that is not a PNG, JPEG, GIF or WebP. */
export function readImage(text: string): ImageBytes {
  const base64 = withoutDataPrefix(text);
  if (base64.length > LONGEST) return { kind: 'refused', reason: 'The image has more than 24 MiB' };
  const head = decode(base64.slice(0, Math.ceil(HEAD / 3) * 4)) ?? '';
  const type = SIGNATURES.find(({ begins }) => begins.test(head))?.type;
  if (type === undefined) return { kind: 'refused', reason: 'The bytes are no PNG, JPEG, GIF or WebP' };
  const decoded = decode(base64);
  if (decoded === null) return { kind: 'refused', reason: 'The base64 is broken' };
  return { kind: 'image', type, bytes: Uint8Array.from(decoded, (character) => character.charCodeAt(0)) };
}
