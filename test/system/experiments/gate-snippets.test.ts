/** The guide's examples for CI systems, held to the schemas of these systems, which check-jsonschema brings. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { isMissing, run } from '../../support/linters.ts';

const GUIDE = readFileSync(new URL('../../../docs/guides/gate.md', import.meta.url), 'utf8');

/** Returns the YAML below a heading of the guide. */
function snippetBelow(heading: string): string {
  const [, behind = ''] = GUIDE.split(`## ${heading}\n`);
  return /^```yaml\n(.*?)^```$/ms.exec(behind)?.[1] ?? '';
}

for (const { system, schema, word } of [
  { system: 'GitHub Actions', schema: 'vendor.github-workflows', word: 'steps:' },
  { system: 'GitLab CI', schema: 'vendor.gitlab-ci', word: 'script:' },
]) {
  t.test(`the gate for ${system} is valid`, { skip: isMissing('check-jsonschema') }, async (t) => {
    const check = (text: string) =>
      run('check-jsonschema', ['--builtin-schema', schema, '--default-filetype', 'yaml', '-'], text);
    const snippet = snippetBelow(system);
    const { status, said } = check(snippet);
    t.equal(status, 0, said);
    t.equal(check(snippet.replace(word, `${word.slice(0, -1)}s:`)).status, 1, 'and a misspelt one is not');
  });
}
