/**
 * What an EXTERNAL evaluator is told of its adapter. Secrets are given once: what is stored and shown has `[secret]` in
 * their place, and they themselves go into a sealed object by the path of their field.
 */
import {
  type Keeper,
  type PreviousExternal,
  readHeaders,
  readSigningKey,
  secretKeeper,
} from './external-secrets.ts';
import type { AutoevalConfig, ExternalConfig, ExternalSecrets, HttpConfig } from './external-shape.ts';
import { checkExpectation, checkScorer, invalidConfig, parseShape, SECRET_MARK } from './external-shape.ts';

export { type PreviousExternal, readSigningKey } from './external-secrets.ts';
export {
  AUTOEVAL_URL,
  type AutoevalConfig,
  type AutoevalsConfig,
  type ExternalConfig,
  type ExternalSecrets,
  type HttpConfig,
  lookupOf,
  MAX_EXTERNAL_TIMEOUT_MS,
  SCORERS,
  type ScorerName,
  SECRET_MARK,
  scoresInProcess,
} from './external-shape.ts';

/**
 * Reads an `external_config` from a body into what is stored, and its secrets.
 *
 * A change (`previous`) keeps the secrets that it leaves out or gives as `[secret]`, and drops those that it gives as
 * null; where the url is another one they have to be given again, so that nobody can send a secret that they do not
 * know to an address of their own.
 * @param options.checkUrl why a URL cannot be called, as the rest of a sentence; null when it may be
 * @throws AssayError invalid_body, with a sentence that begins with the path of the field and never quotes a secret
 */
export function readExternalConfig(
  value: unknown,
  options: { checkUrl: (url: string) => string | null; previous?: PreviousExternal | null },
): { config: ExternalConfig; secrets: ExternalSecrets } {
  const given = parseShape(value);
  const { previous = null } = options;
  if (given.adapter === 'autoevals') {
    checkScorer(given);
    return { config: given, secrets: {} };
  }
  const problem = options.checkUrl(given.url);
  if (problem !== null) throw invalidConfig('url', `${problem} (ext_forbidden_url)`);
  const keeper = secretKeeper(given, previous?.config.adapter === given.adapter ? previous : null);
  return given.adapter === 'http' ? splitHttp(given, keeper) : splitAutoeval(given, keeper);
}

function splitHttp(given: HttpConfig, keeper: Keeper): { config: ExternalConfig; secrets: ExternalSecrets } {
  const { headers: givenHeaders, secret: givenSecret, ...config } = given;
  const headers = readHeaders(givenHeaders, keeper);
  const secret = keeper.keep('secret', givenSecret);
  if (secret !== null && readSigningKey(secret) === null) {
    throw invalidConfig('secret', 'must be "whsec_" and 24 to 64 bytes as base64');
  }
  const names = headers.map(([name]) => [name, SECRET_MARK]);
  const values = headers.map(([name, value]) => [`headers.${name}`, value]);
  return {
    config: {
      ...config,
      ...(headers.length === 0 ? {} : { headers: Object.fromEntries(names) }),
      ...(secret === null ? {} : { secret: SECRET_MARK }),
    },
    secrets: { ...Object.fromEntries(values), ...(secret === null ? {} : { secret }) },
  };
}

const API_KEY = /^[\x21-\x7e]{1,1000}$/;

function splitAutoeval(
  given: AutoevalConfig,
  keeper: Keeper,
): { config: ExternalConfig; secrets: ExternalSecrets } {
  const { apiKey: givenKey, ...config } = given;
  checkExpectation(config);
  if ((config.metric === undefined) === (config.metricId === undefined)) {
    throw invalidConfig('metric', 'or external_config.metricId is required, and not both');
  }
  const apiKey = keeper.keep('apiKey', givenKey);
  if (apiKey === null) throw invalidConfig('apiKey', 'is required');
  if (!API_KEY.test(apiKey)) {
    throw invalidConfig('apiKey', 'must be printable ASCII of 1 to 1000 characters, without spaces');
  }
  return { config: { ...config, apiKey: SECRET_MARK }, secrets: { apiKey } };
}
