/**
 * Finds the usage and the model of a response without parsing all of it. Nearly all of a response is text that does not
 * affect its cost, and parsing it would be the most expensive part of a limit in money.
 *
 * In a response in one piece, only the beginning, up to the model, and the end, from the usage on, are parsed, joined into
 * one object. When either is a member of something deeper, the joined text is not JSON or has no model: then the whole
 * response is parsed. In a stream of chunks the last usage and the last model count: a last chunk that has both is enough.
 */
import { assembleStream } from '#core/chat/mod.ts';
import { isObject, type JsonObject } from '#core/json/mod.ts';
import type { Outcome } from '../request/call.ts';
import { isClear, readCompletion } from '../response/read-completion.ts';

const USAGE = '"usage"';
const MODEL = '"model"';
const TIER = '"service_tier"';
/** A tier of service with prices of its own. */
const PRICED_TIER = /"service_tier"\s*:\s*"(?:flex|priority)"/;
/** The beginning of an escaped letter of `model`: a text with it may hold the name without `MODEL`. */
const ESCAPED_LETTER = '\\u006';
/** With at most this much text between the two members, it is parsed with them. */
const NEAR_CHARACTERS = 512;

/**
 * Returns an object with the response's `usage`, `model` and `service_tier`, from which `readUsage` reads the same as from the whole
 * response, or the whole response. Null: the response is not an object.
 */
export function scanUsage(outcome: Outcome): JsonObject | null {
  const { completion, responseBody, contentEncoding, stream } = outcome;
  if (completion !== undefined) return completion;
  if (!isClear(contentEncoding)) return readCompletion(outcome);
  const found = stream ? readLastChunk(responseBody) : readEnds(responseBody.toString('utf8'));
  return found ?? readCompletion(outcome);
}

/** Returns whether the usage of a stream is read of its last chunk, without putting the stream together. */
export function hasUsageAtEnd({ responseBody, stream }: Outcome): boolean {
  return stream && readLastChunk(responseBody) !== null;
}

/** Reads the beginning and the end of a response; null: the whole response has to be parsed. */
function readEnds(text: string): JsonObject | null {
  const usageAt = text.lastIndexOf(USAGE);
  const modelAt = text.indexOf(MODEL);
  if (!isString(text, usageAt) || !isString(text, modelAt)) return null;
  // When a name occurs twice, the last one counts, which may be between the two ends.
  if (text.indexOf(MODEL, modelAt + 1) !== -1 || text.includes(ESCAPED_LETTER)) return null;
  // The one part of the text between the two ends that changes the cost.
  const tierAt = text.indexOf(TIER);
  if (tierAt !== -1 && tierAt < usageAt && PRICED_TIER.test(text.slice(tierAt, usageAt))) return null;
  try {
    const { model, usage, service_tier } = JSON.parse(endsOf(text, modelAt, usageAt)) as JsonObject;
    return model !== undefined && isEnough(usage) ? { model, usage, service_tier } : null;
  } catch {
    return null;
  }
}

/** Returns whether the usage can be read without the rest: when only the prompt is counted, other members of the response matter. */
function isEnough(usage: unknown): boolean {
  if (!isObject(usage)) return false;
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  return prompt === undefined || completion !== undefined || total !== undefined;
}

/** Returns whether a string begins here, rather than an escaped quote inside a longer one. */
function isString(text: string, at: number): boolean {
  return at > 0 && text[at - 1] !== '\\';
}

function endsOf(text: string, modelAt: number, usageAt: number): string {
  if (modelAt > usageAt - NEAR_CHARACTERS) return `{${text.slice(Math.min(modelAt, usageAt))}`;
  const opening = text.indexOf('"', modelAt + MODEL.length);
  // When the value is not a string, or has a quote in it, this is not its end, and the joined text is not JSON.
  const closing = text.indexOf('"', opening + 1);
  return `${text.slice(0, closing + 1)},${text.slice(usageAt)}`;
}

/** An event of one line. */
const ONE_LINE_EVENT = /^data: ?(\{.*\})$/;
/** The texts that may follow the last chunk. */
const END_MARKERS = new Set(['', 'data: [DONE]']);

/** Bytes of a stream's beginning and of its end that are read: more than its first chunk and its last ones have. */
const END_BYTES = 16 * 1024;

/** Reads the last chunk with a usage; null: the stream is not one of chunks, or other chunks follow. */
function readLastChunk(stream: Buffer): JsonObject | null {
  const text = stream.toString('utf8', Math.max(0, stream.length - END_BYTES));
  const from = text.lastIndexOf('\n\n', text.lastIndexOf(USAGE));
  const end = text.indexOf('\n\n', from + 2);
  if (from < 0 || end < 0 || !END_MARKERS.has(text.slice(end).trim())) return null;
  const [, data] = ONE_LINE_EVENT.exec(text.slice(from + 2, end)) ?? [];
  if (data === undefined) return null;
  try {
    if (!hasChunks(firstEvent(stream))) return null;
    const { model, usage, service_tier } = JSON.parse(data) as JsonObject;
    return typeof model === 'string' && model !== '' && isEnough(usage)
      ? { model, usage, service_tier }
      : null;
  } catch {
    return null;
  }
}

/** Returns the first event of a stream; nothing of one that is longer than `END_BYTES`. */
function firstEvent(stream: Buffer): string {
  return stream.toString('utf8', 0, Math.max(0, stream.subarray(0, END_BYTES).indexOf('\n\n')));
}

/** Returns whether a stream with this beginning consists of chunks: its first event shows the dialect. */
function hasChunks(beginning: string): boolean {
  const { dialect } = assembleStream(beginning);
  return dialect === 'chat' || dialect === 'completions';
}
