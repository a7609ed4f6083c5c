import t from 'tap';
import { forgetAll, Memory, recall, remember, whenForgotten } from '../../../../dashboard/client/recent.ts';

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

t.test('what others keep is forgotten with the answers', async (t) => {
  const memory = new Memory<number>(10);
  let forgotten = 0;
  whenForgotten(() => forgotten++);
  memory.put('a', 1);
  memory.put('b', 2);
  memory.delete('a');
  t.equal(memory.get('a'), null);
  t.equal(memory.get('b'), 2);
  forgetAll();
  t.equal(memory.get('b'), null);
  t.equal(forgotten, 1);
});
