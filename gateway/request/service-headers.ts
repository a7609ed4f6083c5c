/** The `Service-*` headers of a call: how each is read. */
import { AssayError } from '#core/contracts/errors.ts';
import { onlyCredential } from '#platform/http-server/mod.ts';
import { isRequestId } from '#platform/process/ids.ts';
import { INTERNAL_HEADER } from '#platform/secrets/mod.ts';
import type { CallHeaders } from './call.ts';

export const PROPERTY_PREFIX = 'Service-Property-';
const PROPERTY_PREFIX_FOLDED = PROPERTY_PREFIX.toLowerCase();
const MAX_PROPERTIES = 100;
export const MAX_ID_LENGTH = 1_024;
const MAX_PROPERTY_NAME = 128;

/** Header bytes arrive as Latin-1 text, and clients that send more than ASCII send UTF-8. Other bytes stay as they are. */
function decodeValue(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole point is to find what is not ASCII
  if (/^[\x00-\x7f]*$/.test(value)) return value;
  const text = Buffer.from(value, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? value : text;
}

/** A switch that cannot be read is refused: a guess could log what was to stay unlogged. */
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

/** Joins the values of a repeated header into one list, as HTTP has it. */
export function joinedValue(before: string | null, value: string): string {
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

/** Returns the value of a header that names something, or null where it is empty: clients send `''` for what they do not have. */
function label(name: string, value: string): string | null {
  return value === '' ? null : limited(name, value);
}

type Reader = (call: CallHeaders, value: string, given: string) => void;

const READERS: Readonly<Record<string, Reader>> = {
  'Service-Auth': (call, value, given) => {
    call.serviceAuth = onlyCredential(given, call.serviceAuth, value);
  },
  'Service-User-Id': (call, value, given) => {
    call.userId = label(given, value);
  },
  'Service-Session-Id': (call, value, given) => {
    call.sessionId = label(given, value);
  },
  'Service-Session-Path': (call, value, given) => {
    call.sessionPath = label(given, value);
  },
  'Service-Session-Name': (call, value, given) => {
    call.sessionName = label(given, value);
  },
  'Service-Prompt-Id': (call, value, given) => {
    call.promptId = label(given, value);
  },
  'Service-Experiment-Id': (call, value, given) => {
    call.experimentId = label(given, value);
  },
  'Service-Omit-Request': (call, value, given) => {
    call.omitRequest = readFlag(given, value);
  },
  'Service-Omit-Response': (call, value, given) => {
    call.omitResponse = readFlag(given, value);
  },
  'Service-RateLimit-Policy': (call, value) => {
    call.rateLimitPolicy = joinedValue(call.rateLimitPolicy, value);
  },
  'Service-Cache-Enabled': (call, value, given) => {
    call.cache.isEnabled = readFlag(given, value);
  },
  'Service-Cache-Seed': (call, value, given) => {
    call.cache.seed = limited(given, value);
  },
  'Service-Cache-Bucket-Max-Size': (call, value) => {
    call.cache.bucketMaxSize = value;
  },
  'Service-Cache-Coalesce': (call, value, given) => {
    call.cache.isCoalescing = readFlag(given, value);
  },
  'Service-Retry-Enabled': (call, value, given) => {
    call.retry.isEnabled = readFlag(given, value);
  },
  'Service-Retry-Num': (call, value) => {
    call.retry.num = joinedValue(call.retry.num, value);
  },
  'Service-Request-Id': (call, value, given) => {
    if (!isRequestId(value)) {
      throw new AssayError(
        'invalid_header',
        `The header ${given} must be a UUID or a ULID, but is "${value.slice(0, 80)}"`,
      );
    }
    call.requestId = value;
  },
};

/** The names of all headers of ours that callers may send, but for properties. */
export const SERVICE_HEADERS: readonly string[] = Object.keys(READERS);

/** By name in lower case. */
const READERS_BY_NAME = new Map<string, Reader>([
  ...Object.entries(READERS).map(([name, read]): [string, Reader] => [name.toLowerCase(), read]),
  [
    INTERNAL_HEADER,
    (call, value) => {
      call.internal = value;
    },
  ],
]);

/**
 * Reads one `Service-*` header into `call`; returns false when there is none of this name.
 * @param given its name as it came
 * @throws AssayError invalid_header
 */
export function readServiceHeader(call: CallHeaders, given: string, value: string): boolean {
  const name = given.toLowerCase();
  if (name.startsWith(PROPERTY_PREFIX_FOLDED)) {
    addProperty(call, given.slice(PROPERTY_PREFIX.length), value);
    return true;
  }
  const read = READERS_BY_NAME.get(name);
  read?.(call, value, given);
  return read !== undefined;
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
