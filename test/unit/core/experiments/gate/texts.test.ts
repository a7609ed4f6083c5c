/** Texts that a gate writes for others: names in them are texts of users, and may hold anything. */
import { spawnSync } from 'node:child_process';
import { marked } from 'marked';
import t from 'tap';
import type { ComparisonJson } from '#core/contracts/comparison.ts';
import { junitOf, markdownOf } from '#core/experiments/gate/mod.ts';

const HOSTILE =
  '<img src=x onerror=alert(1)> | [link](https://evil.example) @everyone `x` & "q" \u0000\u0008\ud800\n# Heading';

const RULES = [
  { rule: 'a better', outcome: 'pass', sentence: 'better' },
  { rule: `${HOSTILE} better`, outcome: 'fail', sentence: 'worse' },
  { rule: 'c better', outcome: 'undecided', sentence: 'undecided' },
] as const;

/** Parses XML with Python's expat; returns the cases with their failures. */
function parseXml(xml: string): unknown {
  const program = `
import json, sys, xml.etree.ElementTree as E
root = E.fromstring(sys.stdin.buffer.read())
print(json.dumps([root.tag, root.attrib, [[c.attrib["name"], [[f.tag, f.attrib] for f in c]] for c in root.iter("testcase")]]))`;
  const { stdout, stderr, status } = spawnSync('python3', ['-c', program], { input: xml });
  if (status !== 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}

t.test('JUnit is XML whatever the names hold, with a case for each rule', async (t) => {
  const told = HOSTILE.replace('\u0000\u0008\ud800', '\ufffd'.repeat(3));
  t.same(parseXml(junitOf(`assay: ${HOSTILE}`, RULES, 'fail')), [
    'testsuites',
    { tests: '3', failures: '2', errors: '0', skipped: '0' },
    [
      ['a better', []],
      [`${told} better`, [['failure', { message: 'worse', type: 'fail' }]]],
      ['c better', [['failure', { message: 'undecided', type: 'undecided' }]]],
    ],
  ]);
  const [, counts] = parseXml(junitOf('s', RULES, 'pass')) as [string, object];
  t.same(counts, { tests: '3', failures: '1', errors: '0', skipped: '1' });
});

t.test('Markdown shows names as code, and nothing in them is a link, a tag or another cell', async (t) => {
  const comparison: ComparisonJson = {
    baseline: { id: 'b', name: HOSTILE },
    alpha: 0.05,
    margin: null,
    cluster: 'cluster',
    candidates: [
      {
        id: 'c',
        name: HOSTILE,
        left_out: [],
        changed_items: 0,
        win_rates: [],
        metrics: [
          {
            metric: 'score',
            evaluator_id: 'e',
            name: HOSTILE,
            kind: 'binary',
            direction: 'higher',
            pairs: 10,
            groups: 10,
            missing_baseline: 0,
            missing_candidate: 0,
            ungraded_baseline: 0,
            ungraded_candidate: 0,
            baseline_mean: 0.5,
            candidate_mean: 0.4,
            candidate_alone: { items: 200, mean: 0.4, ungraded: 0 },
            difference: -0.1,
            interval: { low: -0.2, high: -0.05, method: 'newcombe' },
            interval_note: null,
            p_value: 0.01,
            p_method: 'mcnemar mid-p',
            adjusted_p_value: 0.01,
            table: null,
            wilcoxon: null,
            minimum_detectable: 0.2,
            corrected: null,
            corrected_note: null,
            verdict: 'worse',
            regressions: [
              {
                item_id: 'i',
                external_id: HOSTILE,
                baseline: 1,
                candidate: 0,
                difference: -1,
                baseline_request_id: 'r1',
                candidate_request_id: 'r2',
              },
            ],
          },
        ],
      },
    ],
  };
  const text = markdownOf('fail', RULES, comparison);
  const html = await marked.parse(text, { gfm: true });
  t.notMatch(html, /<(?:img|a)\b/);
  t.equal(html.match(/<h\d/g)!.length, 1, 'one heading');
  t.same(
    [...html.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) => row!.match(/<t[hd]/g)!.length),
    [3, 3, 3, 3, 6, 6, 4, 4],
  );
  t.match(html, /-0\.1 \(-0\.2 to -0\.05\)/);
  t.match(html, /r1 → r2/);
});
