/** From the body of `POST /v1/log/request` to a log entry: every rule that a schema cannot say, each with its sentence. */
import { PROVIDER_NAMES } from '#core/config/mod.ts';
import { AssayError } from '#core/errors.ts';
import { isRequestId } from '#core/ids.ts';
import { parseWith, quoteValue } from '#core/schema/check.ts';
import type { LogEntryHead } from '#core/schema/log-entry.ts';
import { MAX_PROPERTIES, MAX_PROPERTY_NAME_LENGTH, MAX_PROPERTY_VALUE_LENGTH } from '#core/schema/query.ts';
import { storableText } from '#core/schema/text.ts';
import { formOfText, JSON_ANSWER } from './answer.ts';
import { type LogRequestBody, logRequestBodyChecker } from './body.ts';
import { type Period, readAnsweredAt, readCreatedAt } from './moments.ts';

/** The members of the body that are logged as they are written. */
export const BODY_PATHS = [
  ['request', 'body'],
  ['response', 'body'],
] as const;

/** What was sent: the body, parsed, and the members at BODY_PATHS as written. */
export type SentCall = { value: unknown; written: readonly (string | null)[] };

/** A call as its entry will hold it, but for whose it is. */
export type LoggedCall = {
  /** As the caller chose it. */
  requestId: string | null;
  head: Omit<LogEntryHead, 'id' | 'organizationId' | 'apiKeyId'>;
  requestBody: Buffer;
  responseBody: Buffer;
};

/** In bytes of UTF-8, as that is what an index of Postgres bounds. */
const MAX_TEXT_BYTES = 1_024;
const MAX_MODEL_BYTES = 256;
const PROVIDER = /^[a-z0-9][a-z0-9 ._-]{0,63}$/i;

/**
 * Reads a call.
 * @param period when it may have begun
 * @throws AssayError invalid_body
 */
export function readCall({ value, written }: SentCall, period: Period): LoggedCall {
  const body = parseWith(logRequestBodyChecker, value);
  const { request, response } = body;
  const [requestText, responseText] = written;
  const createdAtMs = readCreatedAt(request.created_at, 'request.created_at', period);
  const answeredAtMs = readAnsweredAt(response.created_at, 'response.created_at', createdAtMs);
  const latencyMs = answeredAtMs - createdAtMs;
  const isText = typeof response.body === 'string';
  return {
    requestId: readRequestId(body.request_id),
    head: {
      v: 1,
      source: 'api',
      createdAtMs,
      answeredAtMs,
      latencyMs,
      ttftMs: readTtft(body.timing?.time_to_first_token, latencyMs),
      path: readPath(request.path),
      provider: readProvider(body.provider),
      requestModel: readModel(body.model),
      status: response.status,
      ...(isText ? formOfText(response.body as string) : JSON_ANSWER),
      errorCode: null,
      contentEncoding: null,
      ...readLabels(body),
      properties: readProperties(body.properties),
      omitRequest: false,
      omitResponse: false,
    },
    requestBody: Buffer.from(requestText!),
    responseBody: Buffer.from(isText ? (response.body as string) : responseText!),
  };
}

function invalid(path: string, problem: string): AssayError {
  return new AssayError('invalid_body', `${path} ${problem}`);
}

/** A text that is stored and indexed; null where there is none. */
function readText(value: string | null | undefined, path: string, maxBytes = MAX_TEXT_BYTES): string | null {
  if (value === null || value === undefined) return null;
  const bytes = Buffer.byteLength(storableText(value));
  if (bytes <= maxBytes) return value;
  throw invalid(path, `must have at most ${maxBytes} bytes as UTF-8, but has ${bytes}`);
}

function readLabels(body: LogRequestBody) {
  return {
    userId: readText(body.user_id, 'user_id') ?? readUser(body.request.body),
    sessionId: readText(body.session_id, 'session_id'),
    sessionPath: readText(body.session_path, 'session_path'),
    sessionName: readText(body.session_name, 'session_name'),
    promptId: readText(body.prompt_id, 'prompt_id'),
    experimentId: readText(body.experiment_id, 'experiment_id'),
  };
}

/** The request's own `user`, as on the gateway. */
function readUser(requestBody: { user?: unknown }): string | null {
  const { user } = requestBody;
  return typeof user === 'string' ? readText(user, 'request.body.user') : null;
}

function readProvider(provider: string): string {
  if (PROVIDER.test(provider)) return provider.toUpperCase();
  throw invalid(
    'provider',
    `must be one of ${PROVIDER_NAMES.join(', ')}, or another name of 1 to 64 letters, digits, spaces and "._-", ` +
      `but is ${quoteValue(provider)}`,
  );
}

function readModel(model: string): string {
  if (model === '') throw invalid('model', 'must not be empty');
  return readText(model, 'model', MAX_MODEL_BYTES)!;
}

function readPath(given: string | null | undefined): string {
  const path = readText(given, 'request.path') ?? '';
  if (path === '' || path.startsWith('/')) return storableText(path);
  throw invalid('request.path', `must begin with "/", but is ${quoteValue(path)}`);
}

function readTtft(ttftMs: number | undefined, latencyMs: number): number | null {
  if (ttftMs === undefined || ttftMs <= latencyMs) return ttftMs ?? null;
  throw invalid(
    'timing.time_to_first_token',
    `must be at most the ${latencyMs} ms from request.created_at to response.created_at, but is ${ttftMs}`,
  );
}

function readRequestId(requestId: string | null | undefined): string | null {
  if (requestId === null || requestId === undefined || isRequestId(requestId)) return requestId ?? null;
  throw invalid('request_id', `must be a UUID or a ULID, but is ${quoteValue(requestId)}`);
}

/** By hand, as a schema would pass over names with a line break in them. */
function readProperties(properties: object | null | undefined): [string, string][] {
  const entries: [string, unknown][] = Object.entries(properties ?? {});
  if (entries.length > MAX_PROPERTIES) {
    throw invalid(
      'properties',
      `must hold at most ${MAX_PROPERTIES} properties, but holds ${entries.length}`,
    );
  }
  return entries.map(([name, value]) => {
    const path = `properties[${quoteValue(name)}]`;
    if (name === '' || name.length > MAX_PROPERTY_NAME_LENGTH) {
      throw invalid(path, `must have a name of 1 to ${MAX_PROPERTY_NAME_LENGTH} characters`);
    }
    if (typeof value !== 'string') throw invalid(path, `must be a string, but is ${quoteValue(value)}`);
    if (value.length > MAX_PROPERTY_VALUE_LENGTH) {
      throw invalid(
        path,
        `must have at most ${MAX_PROPERTY_VALUE_LENGTH} characters, but has ${value.length}`,
      );
    }
    return [name, value];
  });
}
