import t from 'tap';
import type { UsageJson } from '#core/contracts/limit-usage.ts';
import { amountOf, windowName } from '../../../../../dashboard/pages/user/usage.ts';

const USAGE: UsageJson = {
  unit: 'request',
  api_key_id: null,
  segment: 'user',
  value: 'ada',
  is_key_policy: false,
  window_seconds: 60,
  quota: 2,
  used: 1,
  reserved: 0,
  remaining: 1,
  reset_seconds: 5,
};

t.test('Amounts have the unit of their counter', async (t) => {
  t.equal(amountOf({ unit: 'cents' }, 50), '$0.50');
  t.equal(amountOf({ unit: 'request' }, 1_200), '1,200');
  t.equal(windowName(USAGE), 'Requests in 1 min 0 s');
});
