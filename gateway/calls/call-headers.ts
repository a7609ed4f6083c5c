/**
 * One pass over a call's headers: what of them is ours, and what goes on to the provider. An allow-list, so that no
 * credential, cookie or forwarding header of the caller's ever leaves by accident.
 */
import { AssayError } from '#core/errors.ts';
import { isRequestId } from '#core/ids.ts';
import { INTERNAL_HEADER } from '#core/internal-call.ts';
import type { CacheHeaders } from '../cache/mod.ts';
import type { RetryHeaders } from '../routing/mod.ts';

/** What a caller says about a call, beside its body. */
export type CallHeaders = {
  authorization: string | null;
  /** Where Anthropic's clients have their key. */
  xApiKey: string | null;
  serviceAuth: string | null;
  /** A call of our own evaluators says so here; of clients it counts for nothing. */
  internal: string | null;
  contentEncoding: string | null;
  /** In which encodings it takes an answer. */
  acceptEncoding: string | null;
  requestId: string | null;
  userId: string | null;
  sessionId: string | null;
  sessionPath: string | null;
  sessionName: string | null;
  promptId: string | null;
  experimentId: string | null;
  omitRequest: boolean;
  omitResponse: boolean;
  /** Several of them joined by commas, which no policy has; null: none. */
  rateLimitPolicy: string | null;
  cache: CacheHeaders;
  retry: RetryHeaders;
  /** Name (as sent) and value. */
  properties: [string, string][];
  /** Flat list of names and values for the provider, whichever it is. */
  forwarded: string[];
  /** The same, which only providers of that dialect know. */
  forwardedTo: { openai: string[]; anthropic: string[] };
};

const FORWARDED = new Set([
  'accept',
  'accept-language',
  'user-agent',
  'idempotency-key',
  'http-referer',
  'x-title',
  'x-client-request-id',
]);
const FORWARDED_TO_OPENAI = new Set(['openai-organization', 'openai-project', 'openai-beta']);
const FORWARDED_TO_ANTHROPIC = new Set(['anthropic-version', 'anthropic-beta', 'anthropic-user-profile-id']);
/** The official SDKs tell the provider about themselves in these. */
const FORWARDED_PREFIX = 'x-stainless-';
const SERVICE_PREFIX = 'service-';
const PROPERTY_PREFIX = 'service-property-';
const MAX_PROPERTIES = 100;
const MAX_ID_LENGTH = 1_024;
const MAX_PROPERTY_NAME = 128;

/**
 * Node reads header bytes as Latin-1; clients that send anything else send UTF-8. What is not valid UTF-8 is left as
 * it is.
 */
function decodeValue(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole point is to find what is not ASCII
  if (/^[\x00-\x7f]*$/.test(value)) return value;
  const text = Buffer.from(value, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? value : text;
}

/** A wish that cannot be read is refused: to guess it could log what was to stay unlogged. */
function readFlag(name: string, value: string): boolean {
  switch (value.trim().toLowerCase()) {
    case 'true':
    case '1':
      return true;
    case 'false':
    case '0':
      return false;
    default:
      throw new AssayError(
        'invalid_header',
        `The header ${name} must be true or false, but is "${value.slice(0, 80)}"`,
      );
  }
}

/** Two fields of one name are one list, as HTTP has it. */
function joined(before: string | null, value: string): string {
  return before === null ? value : `${before}, ${value}`;
}

function limited(name: string, value: string): string {
  const text = decodeValue(value);
  if (text.length > MAX_ID_LENGTH) {
    throw new AssayError(
      'invalid_header',
      `The header ${name} is ${text.length} characters long; at most ${MAX_ID_LENGTH} are allowed`,
    );
  }
  return text;
}

/**
 * Reads a call's headers.
 * @param rawHeaders flat list of names and values, as received
 * @throws AssayError invalid_header
 */
export function readCallHeaders(rawHeaders: readonly string[]): CallHeaders {
  const call: CallHeaders = {
    authorization: null,
    xApiKey: null,
    serviceAuth: null,
    internal: null,
    contentEncoding: null,
    acceptEncoding: null,
    requestId: null,
    userId: null,
    sessionId: null,
    sessionPath: null,
    sessionName: null,
    promptId: null,
    experimentId: null,
    omitRequest: false,
    omitResponse: false,
    rateLimitPolicy: null,
    cache: { isEnabled: false, cacheControl: null, seed: null, bucketMaxSize: null, isCoalescing: false },
    retry: { isEnabled: false, num: null },
    properties: [],
    forwarded: [],
    forwardedTo: { openai: [], anthropic: [] },
  };
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index]!;
    const value = rawHeaders[index + 1]!;
    const name = given.toLowerCase();
    if (FORWARDED.has(name) || name.startsWith(FORWARDED_PREFIX)) call.forwarded.push(name, value);
    else if (name.startsWith(SERVICE_PREFIX)) readServiceHeader(call, given, name, value);
    else if (name === 'authorization') call.authorization = value;
    else if (name === 'x-api-key') call.xApiKey = value;
    else if (name === 'content-encoding') call.contentEncoding = value;
    else if (name === 'accept-encoding') call.acceptEncoding = joined(call.acceptEncoding, value);
    else if (name === 'cache-control') call.cache.cacheControl = joined(call.cache.cacheControl, value);
    else if (FORWARDED_TO_OPENAI.has(name)) call.forwardedTo.openai.push(name, value);
    else if (FORWARDED_TO_ANTHROPIC.has(name)) call.forwardedTo.anthropic.push(name, value);
  }
  return call;
}

function readServiceHeader(call: CallHeaders, given: string, name: string, value: string): void {
  if (name.startsWith(PROPERTY_PREFIX)) {
    addProperty(call, given.slice(PROPERTY_PREFIX.length), value);
    return;
  }
  switch (name) {
    case 'service-auth':
      call.serviceAuth = value;
      break;
    case INTERNAL_HEADER:
      call.internal = value;
      break;
    case 'service-user-id':
      call.userId = limited(given, value);
      break;
    case 'service-session-id':
      call.sessionId = limited(given, value);
      break;
    case 'service-session-path':
      call.sessionPath = limited(given, value);
      break;
    case 'service-session-name':
      call.sessionName = limited(given, value);
      break;
    case 'service-prompt-id':
      call.promptId = limited(given, value);
      break;
    case 'service-experiment-id':
      call.experimentId = limited(given, value);
      break;
    case 'service-omit-request':
      call.omitRequest = readFlag(given, value);
      break;
    case 'service-omit-response':
      call.omitResponse = readFlag(given, value);
      break;
    case 'service-ratelimit-policy':
      call.rateLimitPolicy = joined(call.rateLimitPolicy, value);
      break;
    case 'service-cache-enabled':
      call.cache.isEnabled = readFlag(given, value);
      break;
    case 'service-cache-seed':
      call.cache.seed = limited(given, value);
      break;
    case 'service-cache-bucket-max-size':
      call.cache.bucketMaxSize = value;
      break;
    case 'service-cache-coalesce':
      call.cache.isCoalescing = readFlag(given, value);
      break;
    case 'service-retry-enabled':
      call.retry.isEnabled = readFlag(given, value);
      break;
    case 'service-retry-num':
      call.retry.num = joined(call.retry.num, value);
      break;
    case 'service-request-id':
      if (!isRequestId(value)) {
        throw new AssayError(
          'invalid_header',
          `The header ${given} must be a UUID or a ULID, but is "${value.slice(0, 80)}"`,
        );
      }
      call.requestId = value;
      break;
  }
}

function addProperty(call: CallHeaders, name: string, value: string): void {
  if (name === '' || name.length > MAX_PROPERTY_NAME) {
    throw new AssayError(
      'invalid_header',
      `A property header needs a name of 1 to ${MAX_PROPERTY_NAME} characters after Service-Property-, but has ${name.length}`,
    );
  }
  if (call.properties.length === MAX_PROPERTIES) {
    throw new AssayError(
      'invalid_header',
      `A request may carry at most ${MAX_PROPERTIES} Service-Property headers`,
    );
  }
  call.properties.push([name, decodeValue(value)]);
}
