/**
 * The config of EXTERNAL evaluators. Secrets are written once: the stored and shown config has `[secret]` in their place, and
 * their values are kept in a sealed object, keyed by the path of their field.
 */
import { isImported, SECRET_MARK } from '../evaluations/mod.ts';
import {
  createSecretKeeper,
  type PreviousExternal,
  readHeaders,
  readSigningKey,
  type SecretKeeper,
} from './external-secrets.ts';
import type { AutoevalConfig, ExternalConfig, ExternalSecrets, HttpConfig } from './external-shape.ts';
import { checkExpectation, checkScale, checkScorer, invalidConfig, parseShape } from './external-shape.ts';

export { readSigningKey } from './external-secrets.ts';
export {
  type AutoevalConfig,
  type CalledConfig,
  type ExternalConfig,
  type ExternalSecrets,
  type HttpConfig,
  type ImportedConfig,
  type ScorerConfig,
  variableLookup,
} from './external-shape.ts';

/**
 * Splits the `external_config` of a body into the config that is stored and its secrets.
 *
 * A change (`previous`) keeps the secrets that it omits or gives as `[secret]`, and drops those that it gives as null. With
 * another URL the secrets must be given again, so that a caller cannot send a secret that they do not know to an address of
 * their own.
 * @param options.checkUrl returns why a URL cannot be called, as the rest of a sentence; null when it can
 * @throws AssayError invalid_body; the sentence begins with the path of the field and never quotes a secret
 */
export function readExternalConfig(
  value: unknown,
  options: { checkUrl: (url: string) => string | null; previous?: PreviousExternal | null },
): { config: ExternalConfig; secrets: ExternalSecrets } {
  const given = parseShape(value);
  const { previous = null } = options;
  if (previous !== null && isImported(previous.config.adapter) !== isImported(given.adapter))
    throw invalidConfig('adapter', 'cannot change from or to "imported": make another evaluator');
  if (given.adapter === 'imported') {
    checkScale(given);
    return { config: given, secrets: {} };
  }
  if (given.adapter === 'autoevals') {
    checkScorer(given);
    return { config: given, secrets: {} };
  }
  const problem = options.checkUrl(given.url);
  if (problem !== null) throw invalidConfig('url', `${problem} (ext_forbidden_url)`);
  const keeper = createSecretKeeper(given, previous?.config.adapter === given.adapter ? previous : null);
  return given.adapter === 'http' ? splitHttp(given, keeper) : splitAutoeval(given, keeper);
}

function splitHttp(
  given: HttpConfig,
  keeper: SecretKeeper,
): { config: ExternalConfig; secrets: ExternalSecrets } {
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
  keeper: SecretKeeper,
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
