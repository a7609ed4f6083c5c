import t from 'tap';
import { parseRules } from '#core/experiments/gate/mod.ts';

const only = (text: string) => parseRules([text, 'errors = 0'])[0]!;

t.test('a rule is a metric and what it must be, with margins and bounds in its units', async (t) => {
  const cases: [text: string, metric: string, test: object][] = [
    ['helpful better', 'helpful', { kind: 'better' }],
    ['helpful not-worse 0.02', 'helpful', { kind: 'not-worse', margin: { unit: 'absolute', value: 0.02 } }],
    ['latency not-worse 10%', 'latency_ms', { kind: 'not-worse', margin: { unit: 'share', value: 0.1 } }],
    ['cost <= 1.10x', 'cost_usd', { kind: 'bound', operator: '<=', unit: 'times', value: 1.1 }],
    ['cost<=$0.002', 'cost_usd', { kind: 'bound', operator: '<=', unit: 'absolute', value: 0.002 }],
    ['latency < 1.5s', 'latency_ms', { kind: 'bound', operator: '<', unit: 'absolute', value: 1_500 }],
    ['tokens >= 10', 'tokens', { kind: 'bound', operator: '>=', unit: 'absolute', value: 10 }],
    ['errors <= 1%', 'errors', { kind: 'bound', operator: '<=', unit: 'share', value: 0.01 }],
    [
      'Is it polite? >= 0.8',
      'Is it polite?',
      { kind: 'bound', operator: '>=', unit: 'absolute', value: 0.8 },
    ],
    ['Constructor better', 'Constructor', { kind: 'better' }],
    [
      '"better < best" > 0.5',
      'better < best',
      { kind: 'bound', operator: '>', unit: 'absolute', value: 0.5 },
    ],
  ];
  for (const [text, metric, test] of cases) t.match(only(text), { text, metric, test }, text);
});

t.test('a rule that cannot be read says what a rule is', async (t) => {
  const cases: [text: string, problem: RegExp][] = [
    ['helpful', /"helpful" cannot be read: a rule is a metric/],
    ['helpful not-worse', /needs a margin, the largest loss that is accepted/],
    ['helpful not-worse 2x', /has a margin that is a multiple/],
    ['helpful better 0.1', /must not have a margin/],
    ['helpful >= 80%', /has a share as its bound, which only errors and ungraded can have/],
    ['helpful >= 80ms', /has a time, which only latency is/],
    ['cost <= cheap', /has no number in "cheap"/],
    ['cost <= -1', /has no number in "-1"/],
    ['cost <= 1e400', /has no number/],
    [' ', /cannot be read/],
  ];
  for (const [text, problem] of cases)
    t.throws(() => parseRules([text]), { code: 'invalid_body', message: problem }, text);
});

t.test('without a rule on errors there must be none, and a metric has one margin', async (t) => {
  t.same(
    parseRules(['helpful better']).map(({ text }) => text),
    ['helpful better', 'errors = 0'],
  );
  t.same(
    parseRules(['errors <= 5']).map(({ text }) => text),
    ['errors <= 5'],
  );
  t.throws(() => parseRules(['cost not-worse 1%', 'cost not-worse 2%']), {
    message: /Two rules give "cost_usd" a margin/,
  });
});

t.test('a rule on answers without a grade is a bound, beside a rule on grades', async (t) => {
  const test = { kind: 'bound', operator: '<=', unit: 'share', value: 0.01 };
  t.match(parseRules(['Ungraded <= 1%', 'helpful better'])[0], { metric: 'ungraded', test });
  const cases: [texts: string[], message: RegExp][] = [
    [['ungraded <= 1%'], /needs another rule, on an evaluator whose grades it counts/],
    [['ungraded <= 1%', 'cost <= 1x', 'errors = 0'], /needs another rule, on an evaluator/],
    [['ungraded not-worse 1%', 'helpful better'], /must bound the number or the share of such answers/],
    [['ungraded better', 'helpful better'], /must bound the number or the share of such answers/],
    [['ungraded <= 5ms', 'helpful better'], /has a time, which only latency is/],
  ];
  for (const [texts, message] of cases)
    t.throws(() => parseRules(texts), { code: 'invalid_body', message }, texts.join());
});
