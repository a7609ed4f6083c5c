/** The schema of each adapter's config, and the rules for its fields. */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { ValueError } from '@sinclair/typebox/compiler';
import { SCORERS } from '../evaluations/mod.ts';
import { parseTemplate, type Subject } from '../scoring/mod.ts';
import { Categories, checkCategories } from './categories.ts';
import { type Checker, Compile, explain, quoteValue } from './check.ts';
import { AssayError } from './errors.ts';
import { closed } from './shapes.ts';

/**
 * The address of LastMile's service; other services with the same interface are named by `url`.
 * @internal Exported so that tests compare it with docs/guides/evaluators.md.
 */
export const AUTOEVAL_URL = 'https://lastmileai.dev/api/2/auto_eval/evaluation/evaluate';

/** Maximum wait of a worker; its lease on the evaluation must be longer. */
const MAX_EXTERNAL_TIMEOUT_MS = 120_000;
const MIN_TIMEOUT_MS = 100;
const MAX_EXPECTED_CHARACTERS = 65_536;

/** A URL may hold a password. */
const Url = Type.String({ minLength: 1, maxLength: 2_048, unquoted: true });
const TimeoutMs = Type.Optional(Type.Integer({ minimum: MIN_TIMEOUT_MS, maximum: MAX_EXTERNAL_TIMEOUT_MS }));
const Secret = Type.Optional(Type.Union([Type.String(), Type.Null()], { unquoted: true }));
const Text = Type.Optional(Type.String({ minLength: 1, maxLength: 500 }));
const expectation = { expected: Type.Optional(Type.Unknown()), expectedFrom: Text };

const HttpConfig = Type.Object(
  {
    adapter: Type.Literal('http'),
    url: Url,
    // Checked by `readHeaders`, whose errors name the header.
    headers: Type.Optional(Type.Unsafe<Record<string, string> | null>(Type.Unknown())),
    secret: Secret,
    timeoutMs: TimeoutMs,
  },
  closed,
);
const AutoevalConfig = Type.Object(
  {
    adapter: Type.Literal('autoeval'),
    url: Type.Optional(Url),
    metric: Text,
    metricId: Text,
    projectId: Text,
    apiKey: Secret,
    ...expectation,
    timeoutMs: TimeoutMs,
  },
  closed,
);
const AutoevalsConfig = Type.Object(
  {
    adapter: Type.Literal('autoevals'),
    scorer: Type.Union(SCORERS.map((name) => Type.Literal(name))),
    ...expectation,
    allowExtraEntities: Type.Optional(Type.Boolean()),
  },
  closed,
);
const ImportedConfig = Type.Object(
  {
    adapter: Type.Literal('imported'),
    description: Type.Optional(Type.String({ maxLength: 500 })),
    categories: Type.Optional(Categories),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
  },
  closed,
);

const CHECKERS = {
  http: Compile(HttpConfig),
  autoeval: Compile(AutoevalConfig),
  autoevals: Compile(AutoevalsConfig),
  imported: Compile(ImportedConfig),
};

/** Any service that accepts JSON by POST and answers `{score, reasoning?}`. */
export type HttpConfig = Static<typeof HttpConfig>;
/** LastMile's AutoEval, or a service with the same interface: it accepts parallel arrays and answers an array of scores. */
export type AutoevalConfig = Static<typeof AutoevalConfig> & { url: string };
/** A scorer that runs in process; its adapter is called `autoevals`. */
export type ScorerConfig = Static<typeof AutoevalsConfig>;
/** The scale of judgments that were made elsewhere: labels with scores, a range, or any number. */
export type ImportedConfig = Static<typeof ImportedConfig>;
/** The config of an adapter that evaluations run. */
export type CalledConfig = HttpConfig | AutoevalConfig | ScorerConfig;
/** An adapter's config as it is stored and shown: with `[secret]` in place of each secret. */
export type ExternalConfig = CalledConfig | ImportedConfig;
/** Secrets, keyed by the path of their field: `secret`, `apiKey`, `headers.<name in lower case>`. */
export type ExternalSecrets = Record<string, string>;

/** Makes the error of a field of `external_config`. */
export function invalidConfig(path: string, problem: string): AssayError {
  return new AssayError('invalid_body', `external_config${path === '' ? '' : `.${path}`} ${problem}`);
}

/**
 * Checks the shape of a body's `external_config`; the result still holds the secrets as they were given.
 * @throws AssayError invalid_body
 */
export function parseShape(value: unknown): ExternalConfig {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidConfig('', 'must be an object');
  }
  const { adapter } = value as { adapter?: unknown };
  const names = Object.keys(CHECKERS)
    .map((name) => `"${name}"`)
    .join(', ');
  if (adapter === undefined) throw invalidConfig('adapter', `is required: one of ${names}`);
  switch (adapter) {
    case 'http':
      return checkShape(CHECKERS.http, value);
    case 'autoeval': {
      const config = checkShape(CHECKERS.autoeval, value);
      // Stored even when it is the default, so that a change of the default never sends a key to another address.
      return { ...config, url: config.url ?? AUTOEVAL_URL };
    }
    case 'autoevals':
      return checkShape(CHECKERS.autoevals, value);
    case 'imported':
      return checkShape(CHECKERS.imported, value);
    default:
      throw invalidConfig('adapter', `must be one of ${names}, but is ${quoteValue(adapter)}`);
  }
}

function checkShape<T extends TSchema>(checker: Checker<T>, value: unknown): Static<T> {
  if (checker.Check(value)) return value;
  const first = checker.Errors(value).First() as ValueError;
  throw new AssayError('invalid_body', explain(first, '/external_config'));
}

/** @throws AssayError invalid_body when the expected value cannot be stored, or `expectedFrom` names no variable */
export function checkExpectation(config: { expected?: unknown; expectedFrom?: string }): void {
  if (config.expected !== undefined && config.expectedFrom !== undefined) {
    throw invalidConfig('expectedFrom', 'must not be given together with external_config.expected');
  }
  let length: number;
  try {
    length = JSON.stringify(config.expected ?? null).length;
  } catch {
    throw invalidConfig('expected', 'is nested too deep');
  }
  if (length > MAX_EXPECTED_CHARACTERS) {
    throw invalidConfig('expected', `must have at most ${MAX_EXPECTED_CHARACTERS} characters as JSON`);
  }
  if (config.expectedFrom !== undefined) variableLookup(config.expectedFrom);
}

/**
 * Returns the function that looks a prompt variable up in a subject; `variable` has no braces.
 * @throws AssayError invalid_body when there is no such variable
 */
export function variableLookup(variable: string): (subject: Subject) => unknown {
  const parts = /[{}]/.test(variable) ? [] : partsOf(variable);
  const [part] = parts;
  if (parts.length === 1 && part !== undefined && 'lookup' in part) return part.lookup;
  throw invalidConfig(
    'expectedFrom',
    `must be one of input, output, inputs.<name>, request.<path>, response.<path>, properties.<name>, expected, expected.<path>, but is ${quoteValue(variable)}`,
  );
}

function partsOf(variable: string): ReturnType<typeof parseTemplate>['parts'] {
  try {
    return parseTemplate(`{{${variable}}}`).parts;
  } catch {
    return [];
  }
}

/** @throws AssayError invalid_body when a field does not apply to the scorer, or a required one is missing */
export function checkScorer(config: ScorerConfig): void {
  checkExpectation(config);
  const hasExpectation = config.expected !== undefined || config.expectedFrom !== undefined;
  if (config.scorer === 'ValidJSON') {
    if (hasExpectation) throw invalidConfig('expected', 'does not apply to the scorer "ValidJSON"');
  } else if (!hasExpectation) {
    throw invalidConfig(
      'expected',
      `or external_config.expectedFrom is required for the scorer "${config.scorer}"`,
    );
  }
  if (config.allowExtraEntities !== undefined && config.scorer !== 'ListContains') {
    throw invalidConfig('allowExtraEntities', `does not apply to the scorer "${config.scorer}"`);
  }
  const { scorer, expected } = config;
  if (expected === undefined) return;
  if (scorer === 'NumericDiff' && typeof expected !== 'number') {
    throw invalidConfig('expected', 'must be a number for the scorer "NumericDiff"');
  }
  if (scorer === 'ListContains' && !isStringArray(expected)) {
    throw invalidConfig('expected', 'must be an array of strings for the scorer "ListContains"');
  }
}

/** @throws AssayError invalid_body when the scale contradicts itself */
export function checkScale({ categories, min, max }: ImportedConfig): void {
  if (categories !== undefined) {
    checkCategories(categories, 'external_config.categories');
    if (min !== undefined || max !== undefined)
      throw invalidConfig('categories', 'and external_config.min or max exclude each other');
  }
  if ((min === undefined) !== (max === undefined))
    throw invalidConfig(min === undefined ? 'min' : 'max', 'is required beside the other end of the range');
  if (min === undefined || max === undefined) return;
  if (!Number.isFinite(min) || !Number.isFinite(max) || min >= max)
    throw invalidConfig(
      'min',
      `must be a finite number less than external_config.max, which is ${max}, but is ${min}`,
    );
}

function isStringArray(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
