/** A request in another dialect, written anew: all of its values are read for that. */
import { move } from 'piscina';
import { AssayError, type ErrorCode } from '#core/contracts/errors.ts';
import { type JsonObject, parseExactJson } from '#core/json/mod.ts';
import type { ProviderEndpoint, ProviderRow } from './registry.ts';
import { TRANSLATIONS } from './translation.ts';

/** What is translated, as plain data. */
export type TranslationTask = {
  bytes: Uint8Array;
  /** The one that was called. */
  endpoint: ProviderEndpoint;
  model: string;
  row: ProviderRow;
};

/**
 * Translates a request.
 * @param task its bytes are JSON, and its endpoint one that is translated
 * @throws AssayError invalid_body, naming the field that the other dialect cannot express
 */
export function translateRequest({ bytes, endpoint, model, row }: TranslationTask): Buffer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const asked = parseExactJson(text) as JsonObject;
  return Buffer.from(JSON.stringify(TRANSLATIONS[endpoint]!.request(asked, model, row)));
}

/** An error as it comes out of a thread, which its class does not survive. */
export type TranslationFailure = { code: ErrorCode; message: string };

/** Translates a request in a thread; what it moves arrives as a Uint8Array. */
export function translateInThread(task: TranslationTask): ReturnType<typeof move> | TranslationFailure {
  try {
    const bytes = translateRequest(task);
    // Handed over, not copied, unless it shares its memory with other buffers.
    const own = bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
    return move(own);
  } catch (error) {
    if (error instanceof AssayError) return { code: error.code, message: error.message };
    throw error;
  }
}
