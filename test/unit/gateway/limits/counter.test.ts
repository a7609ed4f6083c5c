/** The counter that a call uses: thousands are kept in memory, so none is named by kilobytes. */
import t from 'tap';
import { parsePolicy } from '#core/rate-limit/mod.ts';
import { counterOf } from '../../../../gateway/limits/counter.ts';

const CALLER = { organizationId: 'o', countedAs: 'k' };
const countedBy = (value: string) =>
  counterOf(parsePolicy('1;w=60;s=plan'), CALLER, { userId: null, properties: [['Plan', value]] }).value;

t.test('calls are counted by the value of their property, a long one by its hash', async (t) => {
  t.equal(countedBy('gold'), 'gold');
  t.equal(countedBy('x'.repeat(256)), 'x'.repeat(256));
  const [long, other] = [countedBy('x'.repeat(60_000)), countedBy(`${'x'.repeat(59_999)}y`)];
  t.match(long, /^[\da-f]{64}$/);
  t.equal(long, countedBy('x'.repeat(60_000)));
  t.not(long, other);
});
