/** Bodies of metrics and facets that break a rule. */
import t from 'tap';
import { COUNT, FACETS, MARCH, QUERY, startMarch } from './march.ts';

const { api } = await startMarch(t);

/** Bodies that are refused, with the sentence. */
const RANGE = { range: MARCH };
const REFUSALS: [body: object, sentence: string][] = [
  [{ ...RANGE }, 'measures is required'],
  [{ measures: [], ...RANGE }, 'measures must hold at least 1 items, but holds 0'],
  [{ measures: Array(11).fill(COUNT), ...RANGE }, 'measures must hold at most 10 items, but holds 11'],
  [
    { measures: [{ metric: 'nothing', aggregate: 'sum' }], ...RANGE },
    'measures.0.metric must be one of requests, errors',
  ],
  [
    { measures: [{ metric: 'score:', aggregate: 'sum' }], ...RANGE },
    'measures.0.metric must be one of requests, errors',
  ],
  [
    { measures: [{ metric: 'latency', aggregate: 'p100' }], ...RANGE },
    'measures.0.aggregate must be one of count, sum',
  ],
  [
    { measures: [{ metric: 'latency', aggregate: 'rate' }], ...RANGE },
    'measures[0].aggregate must be one of count, sum, avg, min, max, or a quantile such as p99, which latency has, but is "rate"',
  ],
  [
    { measures: [COUNT, { metric: 'requests', aggregate: 'p50' }], ...RANGE },
    'measures[1].aggregate must be one of count, sum, rate, which requests has, but is "p50"',
  ],
  [{ measures: [{ ...COUNT, more: 1 }], ...RANGE }, 'measures.0.more is not a known field'],
  [{ measures: [COUNT] }, 'range is required'],
  [
    { measures: [COUNT], range: { from: '1970-01-01', to: '2026-01-01' }, bucket: 'day' },
    'bucket must be longer, or range shorter: it has more than the 5000 days, weeks or months allowed',
  ],
  [{ measures: [COUNT], range: { from: '2026-03-01' } }, 'range.to is required'],
  [
    { measures: [COUNT], range: { from: '2026-03-01', to: '2026-03-01' } },
    'range.to must be after range.from, "2026-03-01", but is "2026-03-01"',
  ],
  [
    { measures: [COUNT], range: { from: '2026-02-30', to: '2026-03-01' } },
    'range.from must be a time in RFC 3339',
  ],
  [
    { measures: [COUNT], range: { from: '1960-01-01', to: '2026-03-01' } },
    'range.from must be a time in RFC 3339',
  ],
  [
    { measures: [COUNT], range: { from: 0.5, to: '2026-03-01' } },
    'range.from must be a string or a whole number, but is 0.5',
  ],
  [{ measures: [COUNT], ...RANGE, groupBy: ['model', 'model'] }, 'groupBy must not hold an item twice'],
  [
    { measures: [COUNT], ...RANGE, groupBy: ['model', 'user', 'path', 'status'] },
    'groupBy must hold at most 3 items, but holds 4',
  ],
  [{ measures: [COUNT], ...RANGE, groupBy: ['property:'] }, 'groupBy.0 must be one of model, provider'],
  [{ measures: [COUNT], ...RANGE, bucket: 'year' }, 'bucket must be one of "minute", "5m"'],
  [
    { measures: [COUNT], ...RANGE, timeZone: 'Berlin' },
    'timeZone must be a name of the IANA database, such as Europe/Berlin, but is "Berlin"',
  ],
  [{ measures: [COUNT], ...RANGE, timeZone: 'UTC\0' }, 'timeZone must be a name of the IANA database'],
  [{ measures: [COUNT], ...RANGE, limit: 0 }, 'limit must be at least 1, but is 0'],
  [{ measures: [COUNT], ...RANGE, limit: 1_001 }, 'limit must be at most 1000, but is 1001'],
  [
    { measures: [COUNT], ...RANGE, orderBy: { measure: 1 } },
    'orderBy.measure must be an index into measures, from 0 to 0, but is 1',
  ],
  [
    { measures: [COUNT], ...RANGE, orderBy: { direction: 'up' } },
    'orderBy.direction must be one of "asc", "desc"',
  ],
  [{ measures: [COUNT], ...RANGE, compareWith: 'next' }, 'compareWith must be "previous"'],
  [{ measures: [COUNT], ...RANGE, sources: [] }, 'sources must hold at least 1 items, but holds 0'],
  [{ measures: [COUNT], ...RANGE, filter: { request: { model: 'a' } } }, 'filter.request.model'],
  [{ measures: [COUNT], ...RANGE, filter: 'all', q: 'a' }, 'q and filter exclude each other'],
  [
    { measures: [COUNT], ...RANGE, bucket: 'minute', groupBy: ['model'], limit: 10 },
    'bucket must be longer, or range shorter, or limit lower: the answer could hold 535692 values, and at most 250000 are allowed',
  ],
  [{ measures: [COUNT], ...RANGE, more: 1 }, 'more is not a known field'],
];

t.test('a body that breaks a rule is refused with its place and the rule', async (t) => {
  for (const [body, sentence] of REFUSALS) {
    const answer = await api.call(QUERY, { body });
    t.equal(answer.status, 400, answer.text);
    t.ok(answer.body.error?.startsWith(sentence), `${answer.body.error} begins with ${sentence}`);
  }
  const wrong: [object, string][] = [
    [{}, 'field is required'],
    [{ field: 'evaluator' }, 'field must be one of model, provider'],
    [{ field: 'model', limit: 1_001 }, 'limit must be at most 1000'],
    [{ field: 'model', search: 'x'.repeat(1_001) }, 'search must have at most 1000 characters'],
    [{ field: 'model', range: { from: 1, to: 0 } }, 'range.to must be after range.from'],
    [{ field: 'model', filter: 'none' }, 'filter must be "all"'],
  ];
  for (const [body, sentence] of wrong) {
    const answer = await api.call(FACETS, { body });
    t.equal(answer.status, 400, answer.text);
    t.ok(answer.body.error?.startsWith(sentence), `${answer.body.error} begins with ${sentence}`);
  }
});
