/**
 * What an answer says of its cost: its usage, and the model that answered. Nearly all of an answer is text that nobody
 * needs for that, and parsing it would be the dearest part of a limit in money. So of an answer in one piece only its
 * beginning, up to the model, and its end, from the usage on, are parsed, as one object. Were either of the two members
 * of something deeper, they would not fit together, or the answer itself would have no model; then all of it is parsed.
 * Of a stream of chunks, of which the last to tell something counts, it is enough to read a last one that tells both.
 */
import { assembleStream } from '#core/chat/mod.ts';
import { isObject, type JsonObject } from '#core/json/mod.ts';
import type { Outcome } from '../request/call.ts';
import { readCompletion } from '../response/read-completion.ts';

const USAGE = '"usage"';
const MODEL = '"model"';
/** How a letter of `model` is written that is not written as itself: the name may then be there unseen. */
const ESCAPED_LETTER = '\\u006';
/** So much text between the two is parsed with them. */
const NEAR_CHARACTERS = 512;

/**
 * The answer's `usage` and `model`, of which `readUsage` makes what it makes of the whole answer; or that. Null: the answer
 * is no object.
 */
export function scanUsage(outcome: Outcome): JsonObject | null {
  const { responseBody, contentEncoding, stream } = outcome;
  const isClear = contentEncoding === null || contentEncoding === 'identity';
  const read = stream ? readLastChunk : readEnds;
  const bill = (isClear ? read(responseBody.toString('utf8')) : null) ?? readCompletion(outcome);
  return isObject(bill) ? bill : null;
}

/** Null: it takes more than that to find them. */
function readEnds(text: string): JsonObject | null {
  const usageAt = text.lastIndexOf(USAGE);
  const modelAt = text.indexOf(MODEL);
  if (!isString(text, usageAt) || !isString(text, modelAt)) return null;
  // Of a name that comes twice the last counts, which may lie between the ends.
  if (text.indexOf(MODEL, modelAt + 1) !== -1 || text.includes(ESCAPED_LETTER)) return null;
  try {
    const { model, usage } = JSON.parse(endsOf(text, modelAt, usageAt)) as JsonObject;
    return model !== undefined && isEnough(usage) ? { model, usage } : null;
  } catch {
    return null;
  }
}

/** Of an answer that counts its prompt alone, what else it has decides whether that was all. */
function isEnough(usage: unknown): boolean {
  if (!isObject(usage)) return false;
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  return prompt === undefined || completion !== undefined || total !== undefined;
}

/** Whether a string begins here, and not the end of a longer one. */
function isString(text: string, at: number): boolean {
  return at > 0 && text[at - 1] !== '\\';
}

function endsOf(text: string, modelAt: number, usageAt: number): string {
  if (modelAt > usageAt - NEAR_CHARACTERS) return `{${text.slice(Math.min(modelAt, usageAt))}`;
  const opening = text.indexOf('"', modelAt + MODEL.length);
  // Of a value that is no string, or has a quote in it, this is not the end: what is put together then is no JSON.
  const closing = text.indexOf('"', opening + 1);
  return `${text.slice(0, closing + 1)},${text.slice(usageAt)}`;
}

/** An event of one line. */
const PLAIN_EVENT = /^data: ?(\{.*\})$/;
/** What may follow the last chunk without telling anything. */
const LAST_WORDS = new Set(['', 'data: [DONE]']);

/** Null: the stream is none of chunks, or others follow the one that tells the usage. */
function readLastChunk(text: string): JsonObject | null {
  const [first, from] = [text.indexOf('\n\n'), text.lastIndexOf('\n\n', text.lastIndexOf(USAGE))];
  const end = text.indexOf('\n\n', from + 2);
  if (from < 0 || end < 0 || !LAST_WORDS.has(text.slice(end).trim())) return null;
  const [, data] = PLAIN_EVENT.exec(text.slice(from + 2, end)) ?? [];
  if (data === undefined || !isOfChunks(text.slice(0, first))) return null;
  try {
    const { model, usage } = JSON.parse(data) as JsonObject;
    return typeof model === 'string' && model !== '' && isEnough(usage) ? { model, usage } : null;
  } catch {
    return null;
  }
}

/** Whether a stream that begins so is one of chunks: which it is, its first event decides if any can. */
function isOfChunks(beginning: string): boolean {
  const { dialect } = assembleStream(beginning);
  return dialect === 'chat' || dialect === 'completions';
}
