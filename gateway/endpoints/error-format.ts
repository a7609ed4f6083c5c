/** The error formats of API endpoints: the same sentence, in the shape that their clients read. */
import type { JsonObject } from '#core/json/mod.ts';
import { anthropicErrorType } from '../dialects/mod.ts';

/** An error as a client reads it. */
export type ErrorDetails = {
  status: number;
  message: string;
  /** OpenAI's name for errors of this kind. */
  type: string;
  /** Our code, for programs; null when the error is a provider's. */
  code: string | null;
};

export type ErrorFormat = {
  /** The header in which clients look for the id of a call, beside Service-Request-Id; null: none. */
  idHeader: string | null;
  /** Returns the body of a response. */
  body(error: ErrorDetails): JsonObject;
  /** Returns the last event of a stream that breaks off after `framesBefore` events. */
  frame(error: ErrorDetails, framesBefore: number): string;
};

function openAiBody({ message, type, code }: ErrorDetails) {
  return { error: { message, type, param: null, code } };
}

/** `{"error": {message, type, param, code}}`; in a stream, an event of the same. */
export const OPENAI_ERRORS: ErrorFormat = {
  idHeader: null,
  body: openAiBody,
  frame: (error) => `data: ${JSON.stringify(openAiBody(error))}\n\n`,
};

/** As OpenAI's; in a stream, the event `error` with its number, as every event of a response has one. */
export const RESPONSES_ERRORS: ErrorFormat = {
  idHeader: null,
  body: openAiBody,
  frame: (error, framesBefore) => {
    const { message, code } = error;
    const event = { type: 'error', sequence_number: framesBefore, code, message, param: null };
    return `event: error\ndata: ${JSON.stringify({ ...event, ...openAiBody(error) })}\n\n`;
  },
};

/** Our codes that Anthropic's clients act upon, in Anthropic's words: with this one they send the whole conversation. */
const DETAILS: Readonly<Record<string, JsonObject>> = {
  threads_not_supported: { error_code: 'thread_unsupported_request', unsupported: ['model'] },
};

function anthropicBody({ status, message, code }: ErrorDetails) {
  const details = code === null ? undefined : DETAILS[code];
  const error = { type: anthropicErrorType(status), message, ...(details === undefined ? {} : { details }) };
  return { type: 'error', error };
}

/** `{"type": "error", "error": {type, message}}`; in a stream, the event `error`. */
export const ANTHROPIC_ERRORS: ErrorFormat = {
  idHeader: 'request-id',
  body: anthropicBody,
  frame: (error) => `event: error\ndata: ${JSON.stringify(anthropicBody(error))}\n\n`,
};
