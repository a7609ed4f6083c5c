import t from 'tap';
import {
  type BodyRow,
  mergeProperties,
  type RecordRow,
  recordFields,
  recordWriter,
} from '#platform/records/mod.ts';

const ROW: RecordRow = {
  request_id: '01M7ZEX8NKYRHR11J8FC95WTBM',
  created_at: new Date('2026-11-23T09:12:44.031Z'),
  path: '/v1/chat/completions',
  user_id: 'ada "the" first',
  request_properties: '{"Plan": "pro"}',
  properties_added: '{"plan": "team", "Region": "eu"}',
  request_model: 'gpt-4o',
  response_id: null,
  response_created_at: null,
  status: 200,
  response_model: null,
  provider: 'OPENAI',
  model: 'gpt-4o',
  latency_ms: 812,
  ttft_ms: null,
  total_tokens: 24,
  prompt_tokens: 6,
  completion_tokens: 18,
  cost_nano: '2400',
  prompt_id: null,
  prompt_version: null,
  feedback_rating: null,
  scores: null,
  expected: null,
  inputs: null,
  body_bytes: 20,
};
const BODY: BodyRow = {
  request_text: null,
  request_raw: Buffer.from('{"a":1,"a":2}'),
  response_text: '{}',
  response_raw: null,
  inputs: null,
  expected: null,
};

t.test('a record is written with its body as it was sent, and its properties merged ignoring case', (t) => {
  const text = recordWriter(recordFields({ bodies: true, includeInputs: false, includeExpected: false }))(
    ROW,
    BODY,
  );
  t.ok(text.includes('"request_body":{"a":1,"a":2}'), 'a repeated name stays');
  t.match(JSON.parse(text), {
    request_id: ROW.request_id,
    request_created_at: '2026-11-23T09:12:44.031Z',
    request_user_id: 'ada "the" first',
    cost: 0.0000024,
    properties: { plan: 'team', Region: 'eu' },
    scores: null,
  });
  t.notOk('inputs' in JSON.parse(text));
  t.end();
});

t.test('an added property replaces a sent one whose name differs in case alone', (t) => {
  t.same({ ...mergeProperties({ Plan: 'pro', A: '1' }, { PLAN: 'team' }) }, { A: '1', PLAN: 'team' });
  t.end();
});
