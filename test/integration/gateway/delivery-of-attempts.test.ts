/** A call that was answered at its second attempt: its record's delivery shows both. */
import t from 'tap';
import { startTestGateway } from '../../support/gateway.ts';

t.test('the record of a call has all of its attempts, in order', async (t) => {
  const gateway = await startTestGateway(t);
  let calls = 0;
  gateway.provider.script(() => {
    calls += 1;
    return calls === 1 ? { kind: 'error', status: 503 } : { kind: 'answer' };
  });
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] };
  const answer = await gateway.chat(body, { 'Service-Retry-Enabled': 'true' });
  t.equal(answer.status, 200);
  await answer.text();
  const record = (await gateway.record(answer)) as unknown as { attempts: unknown[] };
  t.equal(record.attempts.length, 2);
  t.match(record.attempts, [
    { provider: 'OPENAI', model: 'gpt-4o-mini', status: 503, error_code: null, latency_ms: Number },
    { provider: 'OPENAI', model: 'gpt-4o-mini', status: 200, error_code: null, latency_ms: Number },
  ]);
});
