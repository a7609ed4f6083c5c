/** From a log entry to the rows that it becomes. Pure: bytes in, values out. */
import { isUtf8 } from 'node:buffer';
import { assembleStream, readUsage } from '#core/chat/mod.ts';
import { NOT_TRIED } from '#core/contracts/errors.ts';
import { type LogEntryHead, logEntryHeadChecker } from '#core/contracts/log-entry.ts';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import {
  foldProperties,
  hashProperty,
  type Properties,
  storableProperties,
} from '#core/contracts/properties.ts';
import { indexedText, storableText } from '#core/contracts/storable-text.ts';
import { isObject, isStorableJson, type JsonObject, storableJson, textOrNull } from '#core/json/mod.ts';
import { BUILT_IN_CATALOG, type Catalog } from '#core/models/mod.ts';
import { decodeContent } from '#platform/http-message/mod.ts';
import type { RequestRow, StoredAttempt } from './request-row.ts';
import { type Uncounted, uncountedOf } from './uncounted.ts';
import { usageColumns } from './usage-columns.ts';

export type BodyRow = {
  request_text: string;
  response_text: string;
  request_raw: Buffer | null;
  response_raw: Buffer | null;
};

export type StorableRecord = {
  request: RequestRow;
  bodies: BodyRow;
  /** One for each property, for the property index. */
  propertyHashes: bigint[];
};

/** A record, and what its provider did not count: `estimateUsage` does. */
export type BuiltRecord = StorableRecord & {
  uncounted: Uncounted | null;
  /** What the provider was asked for, which need not be what the caller asked for. */
  routedModel: string | null;
};

type Body = { parsed: JsonObject; text: string; raw: Buffer | null };

/**
 * Builds the rows of an entry; costs are the catalog's.
 * @throws Error when the head is not one of ours: such an entry is for the dead letters
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
      model: responseModel ?? indexedText(routedModel ?? ''),
      response_id: storableOrNull(textOrNull(parsed.id)),
      ...usageColumns({ ...identity, routedModel }, usage, catalog),
      usage_estimated: false,
      request_properties: hasProperties ? JSON.stringify(properties) : null,
      properties_folded: JSON.stringify(folded),
    },
    bodies: {
      request_text: requestBody.text,
      request_raw: requestBody.raw,
      response_text: shown.text,
      response_raw: shown.raw,
    },
    propertyHashes: hashesOf(folded),
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

/** The code of a call whose gateway was killed in the middle of it: there is no moment at which it was answered. */
const INTERRUPTED = 'interrupted';

/** What the head alone decides. */
function identityOf(head: LogEntryHead) {
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
    session_id: storableOrNull(head.sessionId),
    session_path: storableOrNull(head.sessionPath),
    session_name: storableOrNull(head.sessionName),
    prompt_id: indexedOrNull(head.promptId),
    experiment_id: storableOrNull(head.experimentId),
    is_stream: head.stream,
    truncated: head.truncated,
    error_code: head.errorCode,
    cached_from: head.cachedFrom ?? null,
    attempts: attemptsText(head),
  };
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

/** The one attempt of a call whose caller named its model otherwise than the provider does; none of any other call. */
function renamedAttempt(head: LogEntryHead): NonNullable<LogEntryHead['attempts']> {
  const { provider, routedModel: model, status, errorCode, latencyMs, cachedFrom } = head;
  if (model === undefined || cachedFrom !== undefined || NOT_TRIED.has(errorCode ?? '')) return [];
  return [{ provider, model, status, errorCode, latencyMs }];
}

const OMITTED: Body = { parsed: {}, text: '{}', raw: null };

/** The same bytes with Buffer's methods. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The answer's body: a stream assembled, anything else as it came. */
function readAnswer(head: LogEntryHead, bytes: Uint8Array): Body {
  if (bytes.length === 0) return OMITTED;
  if (!head.stream || head.omitResponse) return readBody(bytes, head.contentEncoding);
  return fromValue(assembleStream(asBuffer(bytes).toString('utf8')).completion);
}

/** A body that is JSON as it is; any other as `{"text": …}`. The bytes as given are kept where the text differs. */
function readBody(bytes: Uint8Array, encoding: string | null): Body {
  let given: Buffer;
  try {
    given = decodeContent(bytes, encoding);
  } catch {
    // Bytes that do not unpack are kept for whoever wants to look, as the base64 of what came.
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
  // The record's bodies are objects: a bare array or string is text like any other.
  if (!isObject(value)) return fromValue({ text });
  const storable = isStorableJson(text, value) ? text : storableJson(value).text;
  return { parsed: value, text: storable, raw: storable === text && isUtf8(given) ? null : given };
}

/** A body that nobody sent as JSON. */
function fromValue(parsed: JsonObject): Body {
  const { text, isWhole } = storableJson(parsed);
  return { parsed, text, raw: isWhole ? null : writeOut(parsed) };
}

function writeOut(value: JsonObject): Buffer | null {
  try {
    return Buffer.from(JSON.stringify(value));
  } catch {
    // Nested too deep: what Postgres can hold of it is all that there will be.
    return null;
  }
}
