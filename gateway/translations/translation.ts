import type { JsonObject } from '#core/json/mod.ts';
import type { ProviderEndpoint, ProviderRow } from '../providers/registry.ts';
import type { StreamTranslator } from './stream-translator.ts';

/** Translations: calls of one endpoint are answered by another one of the provider, which speaks another dialect. */
export type Translation = {
  /** The provider endpoint that is called in place of the one that the client called. */
  endpoint: ProviderEndpoint;
  /**
   * Translates a request body.
   * @param model the model as the provider names it
   * @throws AssayError invalid_body, naming the field that the other dialect cannot express
   */
  request(body: JsonObject, model: string, row: ProviderRow): JsonObject;
  /**
   * Translates the body of a successful response.
   * @throws AssayError provider_bad_answer
   */
  answer(answer: JsonObject, origin: AnswerOrigin): JsonObject;
  /**
   * Makes the translator of one streamed response; null: its responses are never streamed.
   * @param options `maxEventBytes`: limit of one event of the provider's
   */
  stream: ((options: AnswerOrigin & { maxEventBytes: number }) => StreamTranslator) | null;
  /** Translates the body of an error response. */
  error(status: number, body: string): JsonObject;
};

/** Provider and time of an answer. */
export type AnswerOrigin = {
  /** Seconds since 1970, for dialects whose answers contain it. */
  created: number;
  /** The provider's name in records, for reasoning that its maker alone can read. */
  label: string;
};
