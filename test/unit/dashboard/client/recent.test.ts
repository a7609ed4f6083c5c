import t from 'tap';
import { forgetAll, recall, remember } from '../../../../dashboard/client/recent.ts';

t.beforeEach(forgetAll);

t.test('an answer is kept until all are forgotten', async (t) => {
  remember('keys', [1]);
  remember('keys', [2]);
  t.same(recall('keys'), [2]);
  t.equal(recall('users'), null);
  forgetAll();
  t.equal(recall('keys'), null);
});

t.test('of many answers the oldest go', async (t) => {
  for (let index = 0; index < 100; index++) remember(`key ${index}`, index);
  t.equal(recall('key 0'), null);
  t.equal(recall('key 99'), 99);
});
