import { Command, type Option } from 'commander';
import t from 'tap';
import {
  limitOption,
  policyOption,
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
