import { mock } from 'node:test';
import t from 'tap';
import { onlyEvery } from '#platform/process/only-every.ts';

t.test('the first call acts at once, and those of the interval after it act together at its end', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  let acts = 0;
  const call = onlyEvery(1_000, () => {
    acts += 1;
  });
  call();
  t.equal(acts, 1);
  call();
  call();
  t.equal(acts, 1);
  mock.timers.tick(999);
  t.equal(acts, 1);
  mock.timers.tick(1);
  t.equal(acts, 2);
  mock.timers.tick(999);
  call();
  t.equal(acts, 2, 'the interval begins anew with each act');
  mock.timers.tick(1);
  t.equal(acts, 3);
  mock.timers.tick(5_000);
  t.equal(acts, 3, 'nothing is done without a call');
  call();
  t.equal(acts, 4);
  t.end();
});
