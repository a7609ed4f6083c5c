import { createHmac, timingSafeEqual } from 'node:crypto';
import t from 'tap';
import { webhookHeaders } from '../../../../evaluators/external/webhook-headers.ts';
import { outcomeOf, startService } from './world.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

t.test('webhookHeaders signs the published example of Standard Webhooks', (t) => {
  const headers = webhookHeaders({
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    atMs: 1_614_265_330_999,
    body: '{"test": 2432232314}',
    secret: SECRET,
  });
  t.same(headers, {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
  t.notOk('webhook-signature' in webhookHeaders({ id: 'a', atMs: 0, body: '', secret: undefined }));
  t.end();
});

t.test('a service can verify a message, and recognize a repeated attempt by its webhook-id', async (t) => {
  const { url, received, outbound } = await startService(t, (got, response) => {
    const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map(
      (name) => got.headers[`webhook-${name}`],
    );
    // Libraries for Standard Webhooks verify in the same way.
    const expected = createHmac('sha256', Buffer.from(SECRET.slice('whsec_'.length), 'base64'))
      .update(`${id}.${timestamp}.${got.body}`)
      .digest();
    const given = Buffer.from(String(signature).split(',')[1] ?? '', 'base64');
    response.end(JSON.stringify({ score: given.length === 32 && timingSafeEqual(given, expected) }));
  });
  const run = (evaluationId: string) =>
    outcomeOf({
      config: { adapter: 'http', url, secret: '[secret]' },
      secrets: { secret: SECRET },
      outbound,
      evaluationId,
      subject: { input: 'ünï😀', output: '\ud800' },
    });
  t.match(await run('42'), { state: 'completed', score: 1 });
  t.match(await run('42'), { state: 'completed', score: 1 });
  t.match(await run('43'), { state: 'completed', score: 1 });
  t.same(
    received.map(({ headers }) => headers['webhook-id']),
    ['evaluation_42', 'evaluation_42', 'evaluation_43'],
  );
});
