import { InvalidArgumentError, Option } from 'commander';
import { describeError } from '#core/contracts/errors.ts';
import { LONGEST_OVERLAP_SECONDS } from '#core/contracts/keys.ts';
import { PROVIDER_NAMES, type ProviderName } from '#core/contracts/provider.ts';
import { parseTimestamp } from '#core/filter/mod.ts';
import { parsePolicy } from '#core/rate-limit/mod.ts';
import { SCOPES, type Scope, TIERS } from '#platform/keys/mod.ts';

function parseScopes(text: string): Scope[] {
  return text.split(',').map((part) => {
    const scope = SCOPES.find((candidate) => candidate === part.trim());
    if (scope === undefined) throw new InvalidArgumentError(`"${part}" is not one of ${SCOPES.join(', ')}.`);
    return scope;
  });
}

const HIGHEST_RATE = 2_147_483_647;

function parseRate(text: string): number {
  const rate = wholeNumber(text);
  if (rate < 1 || rate > HIGHEST_RATE)
    throw new InvalidArgumentError(`"${text}" is not a whole number of at least 1.`);
  return rate;
}

function parseExpiry(text: string): Date {
  const at = parseTimestamp(text);
  if (at === null)
    throw new InvalidArgumentError(`"${text}" is not an RFC 3339 timestamp like 2027-01-31T12:00:00Z.`);
  if (at <= Date.now()) throw new InvalidArgumentError(`"${text}" is not in the future.`);
  return new Date(at);
}

/** Globs of models have no commas, so that a list of them can. */
const LIST_ITEM = /^[\x21-\x2b\x2d-\x7e]{1,200}$/;

function parseList(text: string): string[] {
  return text.split(',').map((part) => {
    const item = part.trim();
    if (!LIST_ITEM.test(item))
      throw new InvalidArgumentError(
        `"${item}" must be 1 to 200 characters of printable ASCII without spaces.`,
      );
    return item;
  });
}

function parsePaths(text: string): string[] {
  const paths = parseList(text);
  const other = paths.find((path) => !path.startsWith('/'));
  if (other !== undefined) throw new InvalidArgumentError(`"${other}" does not begin with "/".`);
  return paths;
}

function parseProviders(text: string): ProviderName[] {
  return parseList(text).map((name) => {
    const known = PROVIDER_NAMES.find((provider) => provider === name);
    if (known === undefined)
      throw new InvalidArgumentError(`"${name}" is not one of ${PROVIDER_NAMES.join(', ')}.`);
    return known;
  });
}

function parseOverlap(text: string): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= LONGEST_OVERLAP_SECONDS) return Number(text);
  throw new InvalidArgumentError(`"${text}" is not a whole number from 0 to ${LONGEST_OVERLAP_SECONDS}.`);
}

function checkPolicy(text: string): string {
  try {
    return parsePolicy(text).text;
  } catch (error) {
    throw new InvalidArgumentError(describeError(error));
  }
}

const HIGHEST_LIMIT = 1_000;

function parseLimit(text: string): number {
  const limit = wholeNumber(text);
  if (limit < 1 || limit > HIGHEST_LIMIT)
    throw new InvalidArgumentError(`"${text}" is not a whole number from 1 to ${HIGHEST_LIMIT}.`);
  return limit;
}

/** Parses a whole number; returns 0 for any other text. */
function wholeNumber(text: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : 0;
}

export const scopesOption = new Option(
  '--scopes <scopes>',
  `what the key may do: some of ${SCOPES.join(',')}`,
)
  .argParser(parseScopes)
  .makeOptionMandatory();

export const tierOption = new Option(
  '--tier <tier>',
  "the organization's tier, which sets its logging rate",
).choices(TIERS);

export const rateOption = new Option(
  '--logs-per-5s <number>',
  "requests logged in 5 seconds at most, in place of the tier's",
).argParser(parseRate);

export const policyOption = new Option(
  '--rate-limit-policy <policy>',
  'a bound on all calls of the key, such as "1000;w=60"',
).argParser(checkPolicy);

export const expiryOption = new Option(
  '--expires <time>',
  'when the key ends, such as 2027-01-31T12:00:00Z',
).argParser(parseExpiry);

export const modelsOption = new Option(
  '--models <globs>',
  'the only models it may call, such as "gpt-4o*,anthropic/*"',
).argParser(parseList);

export const providersOption = new Option(
  '--providers <names>',
  'the only providers it may call, such as openai,anthropic',
).argParser(parseProviders);

export const pathsOption = new Option(
  '--paths <globs>',
  'the only paths it may call, such as "/v1/chat/completions,/v1/request/*"',
).argParser(parsePaths);

export const overlapOption = new Option(
  '--overlap-seconds <number>',
  'how long the old key works beside the new one, up to 30 days',
)
  .argParser(parseOverlap)
  .makeOptionMandatory();

export const limitOption = new Option('--limit <number>', `how many to show, up to ${HIGHEST_LIMIT}`)
  .argParser(parseLimit)
  .default(50);
