/** The result of a gate as JUnit's XML, which CI systems show. Pure. */
import type { RuleResultJson } from '../../contracts/gate.ts';

/** Characters that XML 1.0 cannot hold, whichever way they are written. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\ufffe\uffff]/gu;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

const escaped = (text: string) =>
  text.replace(/[&<>"\n\r\t]/g, (character) => ENTITIES[character]!).replace(FORBIDDEN, '\ufffd');

/**
 * Returns a test suite with a case for each rule.
 * @param undecided what a rule that the data do not decide is: a failure, or skipped
 */
export function junitOf(name: string, rules: readonly RuleResultJson[], undecided: 'fail' | 'pass'): string {
  const cases = rules.map((rule) => testCase(name, rule, undecided));
  const count = (of: 'failure' | 'skipped') => cases.filter((one) => one.includes(`<${of} `)).length;
  const counts = `tests="${cases.length}" failures="${count('failure')}" errors="0" skipped="${count('skipped')}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${escaped(name)}" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase(
  suite: string,
  { rule, outcome, sentence }: RuleResultJson,
  undecided: 'fail' | 'pass',
): string {
  const head = `    <testcase classname="${escaped(suite)}" name="${escaped(rule)}"`;
  if (outcome === 'pass') return `${head}/>`;
  const element = outcome === 'undecided' && undecided === 'pass' ? 'skipped' : 'failure';
  const type = element === 'failure' ? ` type="${outcome}"` : '';
  return `${head}><${element} message="${escaped(sentence)}"${type}/></testcase>`;
}
