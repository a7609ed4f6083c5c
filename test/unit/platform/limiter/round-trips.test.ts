import t from 'tap';
import type { Account } from '#platform/limiter/account.ts';
import { createRoundTrips } from '#platform/limiter/round-trips.ts';

/** Round trips whose requests are answered by the test; a call is a text. */
function world() {
  const taken: string[][] = [];
  const answers: (() => void)[] = [];
  const trips = createRoundTrips<string>((_account, queue) => {
    taken.push(queue.splice(0));
    return new Promise((resolve) => answers.push(resolve));
  });
  // Accounts are told apart as objects; nothing of them is read.
  return { taken, answers, trips, account: {} as Account, other: {} as Account };
}

t.test('calls that arrive during a round trip of their account share the next one', async (t) => {
  const { taken, answers, trips, account, other } = world();
  for (const call of ['a', 'b', 'c']) trips.enqueue(account, call);
  trips.enqueue(account);
  trips.enqueue(other, 'd');
  t.same(taken, [['a'], ['d']]);
  for (const answer of answers) answer();
  await new Promise(setImmediate);
  t.same(taken, [['a'], ['d'], ['b', 'c']]);
});

t.test(
  'the end waits for round trips under way and their queues, and no refill begins after it',
  async (t) => {
    const { taken, answers, trips, account, other } = world();
    let hasEnded = false;
    trips.enqueue(account);
    const ended = trips.end().then(() => {
      hasEnded = true;
    });
    trips.enqueue(other);
    trips.enqueue(account, 'a');
    answers[0]!();
    await new Promise(setImmediate);
    t.same(taken, [[], ['a']], 'a call is served all the same');
    t.notOk(hasEnded);
    answers[1]!();
    await ended;
    trips.enqueue(account);
    t.equal(taken.length, 2);
  },
);
