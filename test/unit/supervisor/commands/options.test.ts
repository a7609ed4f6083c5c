import { Command, type Option } from 'commander';
import t from 'tap';
import {
  expiryOption,
  limitOption,
  modelsOption,
  overlapOption,
  pathsOption,
  policyOption,
  providersOption,
  rateOption,
  scopesOption,
  tierOption,
} from '../../../../supervisor/commands/options.ts';

/** Parses the parameters of a command with one option; returns its value, or the sentence that refuses it. */
function parse(option: Option, parameters: string[]): unknown {
  const command = new Command()
    .addOption(option)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  try {
    return command.parse(parameters, { from: 'user' }).opts()[option.attributeName()];
  } catch (error) {
    return (error as Error).message;
  }
}

t.test('scopes are a list of known ones, and must be given', async (t) => {
  t.same(parse(scopesOption, ['--scopes', 'gateway, read']), ['gateway', 'read']);
  t.match(parse(scopesOption, ['--scopes', 'gateway,all']), /"all" is not one of gateway/);
  t.match(parse(scopesOption, []), /--scopes <scopes>' not specified/);
});

t.test('a logging rate is a whole number that Postgres can hold', async (t) => {
  t.equal(parse(rateOption, ['--logs-per-5s', '1']), 1);
  t.equal(parse(rateOption, ['--logs-per-5s', '2147483647']), 2_147_483_647);
  for (const text of ['0', '2147483648', '1.5', '1e3', 'many', ''])
    t.match(parse(rateOption, ['--logs-per-5s', text]), /is not a whole number of at least 1/, text);
});

t.test('a rate-limit policy is refused with the sentence of its rule', async (t) => {
  t.equal(parse(policyOption, ['--rate-limit-policy', '1000;w=60']), '1000;w=60;u=request');
  t.match(parse(policyOption, ['--rate-limit-policy', '1000']), /is invalid/);
});

t.test('50 rows are shown unless a limit from 1 to 1000 is given', async (t) => {
  t.equal(parse(limitOption, []), 50);
  t.equal(parse(limitOption, ['--limit', '1000']), 1_000);
  for (const text of ['0', '1001', '-1'])
    t.match(parse(limitOption, ['--limit', text]), /from 1 to 1000/, text);
});

t.test('a tier is one of the known ones', async (t) => {
  t.equal(parse(tierOption, ['--tier', 'enterprise']), 'enterprise');
  t.match(parse(tierOption, ['--tier', 'gold']), /Allowed choices are/);
});

t.test('what a key is confined to is given as lists with commas, and each item is checked', async (t) => {
  t.same(parse(modelsOption, ['--models', 'gpt-4o*, anthropic/*']), ['gpt-4o*', 'anthropic/*']);
  t.match(
    parse(modelsOption, ['--models', 'gpt 4']),
    /"gpt 4" must be 1 to 200 characters of printable ASCII/,
  );
  t.match(parse(modelsOption, ['--models', 'a,']), /"" must be 1 to 200 characters/);
  t.same(parse(providersOption, ['--providers', 'openai,groq']), ['openai', 'groq']);
  t.match(parse(providersOption, ['--providers', 'OpenAI']), /"OpenAI" is not one of openai/);
  t.same(parse(pathsOption, ['--paths', '/v1/*']), ['/v1/*']);
  t.match(parse(pathsOption, ['--paths', 'v1']), /"v1" does not begin with/);
});

t.test('an expiry is a timestamp in the future, and an overlap is 0 to 30 days', async (t) => {
  t.same(parse(expiryOption, ['--expires', '2999-01-01T00:00:00+01:00']), new Date('2998-12-31T23:00:00Z'));
  t.match(parse(expiryOption, ['--expires', 'tomorrow']), /is not an RFC 3339 timestamp/);
  t.match(parse(expiryOption, ['--expires', '2020-01-01T00:00:00Z']), /is not in the future/);
  t.equal(parse(overlapOption, ['--overlap-seconds', '2592000']), 2_592_000);
  for (const text of ['-1', '2592001', '1.5', ''])
    t.match(parse(overlapOption, ['--overlap-seconds', text]), /from 0 to 2592000/, text);
});
