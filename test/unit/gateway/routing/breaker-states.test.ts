import t from 'tap';
import { createBreakerStates } from '../../../../gateway/routing/breaker-states.ts';

t.test('a provider shows the worst state of its addresses, and none once all are closed', async (t) => {
  const states = createBreakerStates();
  t.same(states.tripped(), []);
  states.note('openai https://api.openai.com', 'open');
  states.note('azure https://one.example', 'half-open');
  states.note('azure https://two.example', 'open');
  t.same(states.tripped(), [
    { provider: 'openai', state: 'open' },
    { provider: 'azure', state: 'open' },
  ]);
  states.note('azure https://two.example', 'closed');
  states.note('openai https://api.openai.com', 'half-open');
  t.same(states.tripped(), [
    { provider: 'openai', state: 'half-open' },
    { provider: 'azure', state: 'half-open' },
  ]);
  states.note('azure https://one.example', 'closed');
  states.note('openai https://api.openai.com', 'closed');
  t.same(states.tripped(), []);
});
