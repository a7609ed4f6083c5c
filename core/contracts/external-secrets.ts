/** The secret fields of `external_config`: the rules for their values, and for keeping them when an evaluator changes. */
import { SECRET_MARK } from '../evaluations/mod.ts';
import { quoteValue } from './check.ts';
import { type ExternalConfig, type ExternalSecrets, invalidConfig } from './external-shape.ts';

/** The config and secrets of an evaluator before a change. */
export type PreviousExternal = {
  config: ExternalConfig;
  /** Called only when a secret is kept. */
  openSecrets: () => ExternalSecrets;
};

/** Decides which stored secrets a change keeps. */
export type SecretKeeper = {
  /** Returns the value of a secret field: the new one, the stored one, or null for none. */
  keep(path: string, given: string | null | undefined): string | null;
  /** Names of the stored headers, in lower case. */
  headers: readonly string[];
};

/**
 * Makes the keeper for a new config.
 * @param previous the stored config and secrets of the same adapter; null: none
 */
export function createSecretKeeper(given: { url: string }, previous: PreviousExternal | null): SecretKeeper {
  const config = previous?.config;
  const headers = config?.adapter === 'http' ? Object.keys(config.headers ?? {}) : [];
  const stored = new Set(headers.map((name) => `headers.${name}`));
  if (config?.adapter === 'http' && config.secret !== undefined) stored.add('secret');
  if (config?.adapter === 'autoeval') stored.add('apiKey');
  const hasMoved = config !== undefined && 'url' in config && config.url !== given.url;
  return {
    headers,
    keep: (path, value) => {
      if (value === null) return null;
      if (value !== undefined && value !== SECRET_MARK) return value;
      if (previous === null || !stored.has(path)) {
        if (value === undefined) return null;
        throw invalidConfig(
          path,
          `is ${quoteValue(SECRET_MARK)}, which stands for a stored value, and there is none`,
        );
      }
      if (hasMoved)
        throw invalidConfig(path, 'must be given again, because external_config.url is another one');
      return previous.openSecrets()[path] ?? null;
    },
  };
}

/** Names of headers by RFC 9110, and the names that only Assay or the connection sets. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/;
const OWN_HEADER =
  /^(host|connection|keep-alive|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept|accept-encoding|user-agent|proxy-.*|webhook-.*)$/;
const MAX_HEADERS = 20;
/** Printable ASCII without surrounding spaces. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?$/;

/** Reads the headers; names are returned in lower case. @throws AssayError invalid_body */
export function readHeaders(
  given: unknown,
  { keep, headers: stored }: SecretKeeper,
): [name: string, value: string][] {
  if (given === null) return [];
  if (given !== undefined && (typeof given !== 'object' || Array.isArray(given))) {
    throw invalidConfig('headers', 'must be an object');
  }
  const entries: [string, unknown][] =
    given === undefined ? stored.map((name) => [name, undefined]) : Object.entries(given);
  if (entries.length > MAX_HEADERS)
    throw invalidConfig('headers', `must hold at most ${MAX_HEADERS} headers`);
  const seen = new Set<string>();
  return entries.flatMap(([givenName, givenValue]): [string, string][] => {
    const name = givenName.toLowerCase();
    const path = `headers.${quoteValue(givenName).slice(1, -1)}`;
    if (!HEADER_NAME.test(name)) throw invalidConfig(path, 'is not the name of a header');
    if (OWN_HEADER.test(name)) throw invalidConfig(path, 'is a header that the service sets itself');
    if (seen.has(name)) throw invalidConfig(path, 'is given twice');
    seen.add(name);
    if (givenValue !== undefined && typeof givenValue !== 'string')
      throw invalidConfig(path, 'must be a string');
    const value = keep(`headers.${name}`, givenValue);
    if (value === null) return [];
    if (!HEADER_VALUE.test(value)) {
      throw invalidConfig(path, 'must be printable ASCII of 1 to 4096 characters, without spaces around it');
    }
    return [[name, value]];
  });
}

const SIGNING_SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const SIGNING_KEY_BYTES = { min: 24, max: 64 };

/** Returns the key inside a signing secret (standard-webhooks: `whsec_` and 24 to 64 bytes as base64); null when it has none. */
export function readSigningKey(secret: string): Buffer | null {
  const key = Buffer.from(SIGNING_SECRET.exec(secret)?.[1] ?? '', 'base64');
  return key.length >= SIGNING_KEY_BYTES.min && key.length <= SIGNING_KEY_BYTES.max ? key : null;
}
