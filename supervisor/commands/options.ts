import { InvalidArgumentError, Option } from 'commander';
import { describeError } from '#core/contracts/errors.ts';
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
  'for calls that name none, such as "1000;w=60"',
).argParser(checkPolicy);

export const limitOption = new Option('--limit <number>', `how many to show, up to ${HIGHEST_LIMIT}`)
  .argParser(parseLimit)
  .default(50);
