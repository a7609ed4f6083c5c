/** Builds the rows of a log entry. Pure: bytes in, values out. */
import { isUtf8 } from 'node:buffer';
import { assembleStream, previewOfAnswer, previewOfQuestion, readUsage } from '#core/chat/mod.ts';
import { NOT_TRIED } from '#core/contracts/errors.ts';
import { INTERRUPTED, type LogEntryHead, logEntryHeadChecker } from '#core/contracts/log-entry.ts';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import {
  foldProperties,
  hashProperty,
  type Properties,
  storableProperties,
} from '#core/contracts/properties.ts';
import { indexedText, storableSessionText, storableText } from '#core/contracts/storable-text.ts';
import {
  isObject,
  isStorableJson,
  type JsonObject,
  parseExactJson,
  storableJson,
  textOrNull,
} from '#core/json/mod.ts';
import { BUILT_IN_CATALOG, type Catalog } from '#core/models/mod.ts';
import { decodeContent } from '#platform/http-message/mod.ts';
import type { RequestRow, StoredAttempt } from './request-row.ts';
import { type Uncounted, uncountedOf } from './uncounted.ts';
import { usageColumns } from './usage-columns.ts';

/** The bodies in a row of `assay.request_bodies`; `raw` holds the original bytes where the text had to be changed. */
export type BodyRow = {
  request_text: string;
  response_text: string;
  request_raw: Buffer | null;
  response_raw: Buffer | null;
};

/** A score that a record is stored with. */
export type StoredScore = { key: string; value: number };

/** The rows of one record. */
export type StorableRecord = {
  request: RequestRow;
  bodies: BodyRow;
  /** One for each property, for the property index. */
  propertyHashes: bigint[];
  scores: readonly StoredScore[];
};

/** A record before its usage is estimated. */
export type BuiltRecord = StorableRecord & {
  /** The texts whose tokens the provider did not count; null: none. */
  uncounted: Uncounted | null;
  /** The model's name at the provider, which may differ from the one that the client requested. */
  routedModel: string | null;
};

type Body = { parsed: JsonObject; text: string; raw: Buffer | null };

const OMITTED: Body = { parsed: {}, text: '{}', raw: null };

/**
 * Builds the rows of an entry, with costs by the catalog's prices.
 * @throws Error when the head does not fit its schema; such an entry becomes a dead letter
 */
export function buildRecord(
  entry: LogEntry,
  catalog: Pick<Catalog, 'costOf'> = BUILT_IN_CATALOG,
): BuiltRecord {
  const head = readHead(entry.head);
  const requestBody = head.omitRequest ? OMITTED : readBody(entry.requestBody, null);
  const answer = readAnswer(head, entry.responseBody);
  const parsed = answer.parsed;
  const responseModel = indexedOrNull(textOrNull(parsed.model));
  const usage = readUsage(parsed);
  const routedModel = head.routedModel ?? head.requestModel;
  const identity = { ...identityOf(head), response_model: responseModel };
  const properties = storableProperties(head.properties);
  const folded = foldProperties(properties);
  const hasProperties = head.properties.length > 0;
  const shown = head.omitResponse ? OMITTED : answer;
  return {
    request: {
      ...identity,
      // Some servers name an empty model.
      model: responseModel || indexedText(routedModel ?? ''),
      response_id: indexedOrNull(textOrNull(parsed.id)),
      ...usageColumns({ ...identity, routedModel }, usage, catalog),
      usage_estimated: false,
      request_properties: hasProperties ? JSON.stringify(properties) : null,
      properties_folded: JSON.stringify(folded),
      preview_in: previewOfQuestion(requestBody.parsed),
      preview_out: previewOfAnswer(shown.parsed),
    },
    bodies: {
      request_text: requestBody.text,
      request_raw: requestBody.raw,
      response_text: shown.text,
      response_raw: shown.raw,
    },
    propertyHashes: hashesOf(folded),
    scores: scoresOf(head),
    routedModel,
    uncounted: uncountedOf({ head, request: requestBody.parsed, answer: parsed, usage }),
  };
}

function hashesOf(folded: Properties): bigint[] {
  return Object.entries(folded).map(([name, value]) => hashProperty(name, value));
}

function storableOrNull(text: string | null): string | null {
  return text === null ? null : storableText(text);
}

/** Returns a session's id or name as it is stored; an empty header names none. */
function sessionTextOrNull(text: string | null): string | null {
  return text === null || text === '' ? null : storableSessionText(text);
}

function indexedOrNull(text: string | null): string | null {
  return text === null ? null : indexedText(text);
}

function readHead(bytes: Uint8Array): LogEntryHead {
  const head: unknown = JSON.parse(asBuffer(bytes).toString('utf8'));
  if (!logEntryHeadChecker.Check(head)) {
    const first = logEntryHeadChecker.Errors(head).First();
    throw new Error(`The head of the entry does not fit its schema: ${first?.path} ${first?.message}`);
  }
  return head;
}

/** Returns the columns that depend on the head alone. */
function identityOf(head: LogEntryHead) {
  // An interrupted call has no time of an answer.
  const isAnswered = head.errorCode !== INTERRUPTED;
  return {
    organization_id: head.organizationId,
    created_at: new Date(head.createdAtMs),
    request_id: head.id,
    api_key_id: head.apiKeyId,
    source: head.source,
    path: head.path,
    provider: head.provider,
    request_model: indexedOrNull(head.requestModel),
    response_created_at: isAnswered ? new Date(head.answeredAtMs) : null,
    status: head.status,
    latency_ms: isAnswered ? Math.round(head.latencyMs) : null,
    ttft_ms: head.ttftMs === null ? null : Math.round(head.ttftMs),
    user_id: indexedOrNull(head.userId),
    session_id: sessionTextOrNull(head.sessionId),
    session_path: storableOrNull(head.sessionPath),
    session_name: sessionTextOrNull(head.sessionName),
    prompt_id: indexedOrNull(head.promptId),
    prompt_version: storableOrNull(head.promptVersion ?? null),
    inputs: head.inputs === undefined ? null : storableJson(parseExactJson(head.inputs)).text,
    experiment_id: storableOrNull(head.experimentId),
    expected: head.expected ?? null,
    is_stream: head.stream,
    truncated: head.truncated,
    error_code: head.errorCode,
    cached_from: head.cachedFrom ?? null,
    attempts: attemptsText(head),
  };
}

function scoresOf({ scores = {} }: LogEntryHead): StoredScore[] {
  // Two keys that Postgres cannot tell apart are one row, with the last value.
  const byKey = new Map(Object.entries(scores).map(([key, value]) => [storableText(key), value]));
  return [...byKey].map(([key, value]) => ({ key, value }));
}

function attemptsText(head: LogEntryHead): string | null {
  const attempts = head.attempts ?? renamedAttempt(head);
  const stored = attempts.map(
    ({ provider, model, status, errorCode, latencyMs }): StoredAttempt => ({
      provider,
      model: indexedText(model),
      status,
      error_code: errorCode,
      latency_ms: latencyMs,
    }),
  );
  return stored.length === 0 ? null : JSON.stringify(stored);
}

/** Returns the only attempt of a call whose client and provider name the model differently; none for other calls. */
function renamedAttempt(head: LogEntryHead): NonNullable<LogEntryHead['attempts']> {
  const { provider, routedModel: model, status, errorCode, latencyMs, cachedFrom } = head;
  if (model === undefined || cachedFrom !== undefined || NOT_TRIED.has(errorCode ?? '')) return [];
  return [{ provider, model, status, errorCode, latencyMs }];
}

/** Returns a view of the same bytes with Buffer's methods. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reads the body of the answer; a stream is assembled. */
function readAnswer(head: LogEntryHead, bytes: Uint8Array): Body {
  if (bytes.length === 0) return OMITTED;
  if (!head.stream || head.omitResponse) return readBody(bytes, head.contentEncoding);
  return fromValue(assembleStream(asBuffer(bytes).toString('utf8')).completion);
}

/** Reads a body: a JSON object unchanged, any other as `{"text": …}`. The original bytes are kept where the text differs. */
function readBody(bytes: Uint8Array, encoding: string | null): Body {
  let given: Buffer;
  try {
    given = decodeContent(bytes, encoding);
  } catch {
    // Bytes that cannot be decompressed are kept as base64, so that an operator can inspect them.
    return fromValue({ text: asBuffer(bytes).toString('base64') });
  }
  if (given.length === 0) return OMITTED;
  const text = given.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fromValue({ text });
  }
  // A record's bodies are objects: an array or a string is kept as text.
  if (!isObject(value)) return fromValue({ text });
  const storable = isStorableJson(text, value) ? text : storableJson(withDigits(text, value)).text;
  return { parsed: value, text: storable, raw: storable === text && isUtf8(given) ? null : given };
}

/**
 * Finds whole numbers that a double may not hold; a text that only looks like one costs a second parse. With `\d{16,}` V8 notes
 * each digit for the case that the rest does not match, and has no room for some millions of them.
 */
const LONG_NUMBER = /(?<![\d.])\d{16}\d*\s*[,\]}]/;

/**
 * Returns the parsed value of a text with all digits of its numbers: filters search the text that is stored of it, and
 * evaluators and conversations read that, where 64-bit ids should be those that were sent.
 */
function withDigits(text: string, value: unknown): unknown {
  if (!LONG_NUMBER.test(text)) return value;
  try {
    return parseExactJson(text);
  } catch {
    // Nested deeper than digits can be kept, and than a text can be stored.
    return value;
  }
}

/** Makes a body of a value that was not sent as JSON. */
function fromValue(parsed: JsonObject): Body {
  const { text, isWhole } = storableJson(parsed);
  return { parsed, text, raw: isWhole ? null : writeOut(parsed) };
}

function writeOut(value: JsonObject): Buffer | null {
  try {
    return Buffer.from(JSON.stringify(value));
  } catch {
    // The value is nested too deep: the record keeps only the part that Postgres can hold.
    return null;
  }
}
