import t from 'tap';
import type { AlertJson } from '#core/contracts/alert.ts';
import { alertFilter, requestsBehind } from '../../../../../dashboard/pages/alerts/requests-behind.ts';
import { conditionText, groupText } from '../../../../../dashboard/pages/alerts/words.ts';

type Condition = Parameters<typeof conditionText>[0];

const condition = (metric: string, aggregate: string, more: Partial<Condition> = {}): Condition => ({
  query: { measures: [{ metric, aggregate }] } as AlertJson['query'],
  window_minutes: 15,
  comparison: '>',
  threshold: 0.05,
  for_minutes: 0,
  ...more,
});

for (const [given, text] of [
  [condition('errors', 'avg'), 'Share of errors over 15 min > 5%'],
  [condition('errors', 'rate', { threshold: 2 }), 'Rate of errors over 15 min > 2/min'],
  [condition('cost', 'rate', { threshold: 2 }), 'Rate of cost over 15 min > $2.00/min'],
  [
    condition('latency', 'p95', { threshold: 8_000, for_minutes: 3 }),
    'p95 latency over 15 min > 8 s for 3 min',
  ],
  [condition('cost', 'sum', { threshold: 50, window_minutes: 1_440 }), 'Total cost over 1 day > $50.00'],
  [condition('total_tokens', 'avg', { window_minutes: 120 }), 'Mean tokens over 2 h > 0.05'],
  [condition('score:polite', 'avg', { comparison: '<' }), 'Mean score polite over 15 min < 0.05'],
] as const) {
  t.test(`A condition says what is measured, over how long, and its unit: ${text}`, (t) => {
    t.equal(conditionText(given), text);
    t.end();
  });
}

t.test('A condition names the grouping, of a property too', (t) => {
  const grouped = (grouping: string) => {
    const given = condition('errors', 'avg');
    return conditionText({ ...given, query: { ...given.query, groupBy: [grouping] } as AlertJson['query'] });
  };
  t.match(grouped('api_key'), /, each API key$/);
  t.match(grouped('property:Plan'), /, each property:Plan$/);
  t.end();
});

t.test('A group shows the name of its key, and a dash where it has no value', (t) => {
  t.equal(groupText({ api_key: 'id' }, new Map([['id', 'Production']])), 'Production');
  t.equal(groupText({ model: null }), '–');
  t.end();
});

t.test('The requests behind a value are those of its group and window; of errors, those that failed', (t) => {
  const query = {
    measures: [{ metric: 'errors', aggregate: 'avg' }],
    groupBy: ['model'],
    q: 'user:a OR user:b',
  } as AlertJson['query'];
  const end = Date.parse('2026-11-23T10:00:00Z');
  const address = new URL(requestsBehind({ query, window_minutes: 5 }, { model: 'gpt-4o' }, end), 'http://a');
  t.equal(
    address.searchParams.get('q'),
    '(user:a OR user:b) model_used:gpt-4o status:>=400 -source:experiment',
  );
  t.equal(address.searchParams.get('range'), '2026-11-23T09:55:00.000Z..2026-11-23T10:00:00.000Z');
  t.end();
});

t.test('The requests behind a value of all requests are those of the window', (t) => {
  const query = { measures: [{ metric: 'cost', aggregate: 'sum' }] } as AlertJson['query'];
  const address = new URL(requestsBehind({ query, window_minutes: 5 }, {}, 0), 'http://a');
  t.equal(address.searchParams.get('q'), '-source:experiment', 'which a measure leaves out');
  t.end();
});

t.test('The requests behind a value of named sources are those of these sources', (t) => {
  const query = {
    measures: [{ metric: 'cost', aggregate: 'sum' }],
    sources: ['api', 'experiment'],
    q: 'model:gpt-4o',
  } as AlertJson['query'];
  const address = new URL(requestsBehind({ query, window_minutes: 5 }, {}, 0), 'http://a');
  t.equal(address.searchParams.get('q'), '(model:gpt-4o) source:(api OR experiment)');
  t.end();
});

t.test('A filter that was given as JSON is shown as text', (t) => {
  const filter = { response: { status: { gte: 500 } } };
  const query = { measures: [{ metric: 'errors', aggregate: 'avg' }], filter } as AlertJson['query'];
  t.equal(alertFilter(query), 'status:>=500');
  t.end();
});
