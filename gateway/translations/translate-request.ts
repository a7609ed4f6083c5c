/** Rewrites a request body, in the event loop or in a thread, by reading all of its values. */
import { move } from 'piscina';
import { AssayError, type ErrorCode } from '#core/contracts/errors.ts';
import { type JsonObject, parseExactJson } from '#core/json/mod.ts';
import { withoutForeignReasoning } from '../dialects/mod.ts';
import type { ProviderRow } from '../providers/registry.ts';
import { TRANSLATIONS, type TranslationName } from './translations.ts';

/** Changes that a thread can make to a request. `messages without reasoning of others`: the answer is not translated. */
export type RequestChange = TranslationName | 'messages without reasoning of others';

/** The input of a translation, as data that a thread can be sent. */
export type TranslationTask = {
  bytes: Uint8Array;
  change: RequestChange;
  model: string;
  row: ProviderRow;
};

/**
 * Translates a request.
 * @param task `bytes`: JSON
 * @throws AssayError invalid_body, naming the field that the other dialect cannot express
 */
export function translateRequest({ bytes, change, model, row }: TranslationTask): Buffer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  try {
    const body = parseExactJson(text) as JsonObject;
    return Buffer.from(JSON.stringify(changed(body, change, model, row)));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The depth of the body itself was checked before.
    throw new AssayError(
      'invalid_body',
      `The arguments of a tool are nested too deep to translate them into the dialect of ${row.label}`,
      { cause: error },
    );
  }
}

function changed(body: JsonObject, change: RequestChange, model: string, row: ProviderRow): JsonObject {
  if (change === 'messages without reasoning of others') return { ...withoutForeignReasoning(body), model };
  return TRANSLATIONS[change].request(body, model, row);
}

/** An AssayError as plain data, because its class does not survive the way out of a thread. */
export type TranslationFailure = { code: ErrorCode; message: string };

/** Translates a request in a thread; the moved result arrives as a Uint8Array. */
export function translateInThread(task: TranslationTask): ReturnType<typeof move> | TranslationFailure {
  try {
    const bytes = translateRequest(task);
    // Moved without a copy, unless it shares its memory with other buffers.
    const own = bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
    return move(own);
  } catch (error) {
    if (error instanceof AssayError) return { code: error.code, message: error.message };
    throw error;
  }
}
