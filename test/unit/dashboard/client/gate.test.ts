import t from 'tap';
import { createGate } from '../../../../dashboard/client/gate.ts';

const never = new AbortController().signal;

function deferred() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  return { promise, resolve, reject };
}

t.test(
  'No more calls run at once than the gate lets through, and the others follow in their order',
  async (t) => {
    const gate = createGate(2);
    const calls = [deferred(), deferred(), deferred(), deferred()];
    const begun: number[] = [];
    const ended = calls.map(({ promise }, index) =>
      gate(() => {
        begun.push(index);
        return promise;
      }, never),
    );
    await Promise.resolve();
    t.same(begun, [0, 1]);
    calls[1]!.resolve();
    await ended[1];
    await new Promise(setImmediate);
    t.same(begun, [0, 1, 2]);
    for (const { resolve } of calls) resolve();
    await Promise.all(ended);
    t.same(begun, [0, 1, 2, 3]);
  },
);

t.test('A call that fails makes room for the next', async (t) => {
  const gate = createGate(1);
  const first = deferred();
  const failed = gate(() => first.promise, never);
  const second = gate(async () => 'second', never);
  first.reject(new Error('refused'));
  await t.rejects(failed, { message: 'refused' });
  t.equal(await second, 'second');
});

t.test('A call that is aborted while it waits is never made', async (t) => {
  const gate = createGate(1);
  const first = deferred();
  const running = gate(() => first.promise, never);
  const controller = new AbortController();
  let isMade = false;
  const waiting = gate(async () => {
    isMade = true;
  }, controller.signal);
  controller.abort();
  first.resolve();
  await running;
  await t.rejects(waiting, { name: 'AbortError' });
  t.equal(isMade, false);
  t.equal(await gate(async () => 'next', never), 'next');
});
