import t from 'tap';
import { alertWorld, BODY, MINUTE_MS } from './alert-world.ts';

const world = await alertWorld(t);
const { own, says, test } = world;

t.test('a test evaluates each minute of two hours, and longer steps beyond', async (t) => {
  const steps = async (hours: number) => {
    const ends: number[] = [];
    says((_name, _tx, endMs) => ends.push(endMs) * 0);
    const { step_minutes, evaluations, is_complete } = await test(own, { alert: BODY, hours });
    t.equal(ends.length, evaluations);
    t.equal(ends[0], Math.max(...ends), 'the newest is read first');
    ends.sort((a, b) => a - b);
    t.ok(is_complete);
    t.ok(ends.every((end, index) => index === 0 || end - ends[index - 1]! === step_minutes * MINUTE_MS));
    t.ok(world.now() - ends.at(-1)! < MINUTE_MS + 5_000, 'the last one is of the last full minute');
    return [step_minutes, evaluations];
  };
  t.same(await steps(1), [1, 60]);
  t.same(await steps(2), [1, 120]);
  t.same(await steps(24), [12, 120]);
  t.same(await steps(168), [84, 120]);
});

t.test('a test tells what the alert would have, with the time it has to hold', async (t) => {
  const endMs = Math.floor((world.now() - 5_000) / MINUTE_MS) * MINUTE_MS;
  const isBad = (at: number) => at > endMs - 30 * MINUTE_MS && at <= endMs - 25 * MINUTE_MS;
  says((_name, _tx, at) => (isBad(at) ? 1 : 0));
  const events = async (for_minutes: number, hours = 1) =>
    (await test(own, { alert: { ...BODY, for_minutes }, hours })).events.map(
      ({ event, at }) => `${event} ${(endMs - Date.parse(at)) / MINUTE_MS}`,
    );
  t.same(await events(0), ['fired 29', 'resolved 24']);
  t.same(await events(4), ['fired 25', 'resolved 24']);
  t.same(await events(5), []);
  t.same(await events(12, 24), [], 'in steps of twelve minutes it was seen once at most');
});

t.test(
  'a test that takes too long ends, and says so; the newest value is among those that it has',
  async (t) => {
    let first: number | null = null;
    says((_name, _tx, endMs) => {
      first ??= endMs;
      world.advance(1_000);
      return 1;
    });
    const { evaluations, is_complete, values, events } = await test(own, { alert: BODY, hours: 1 });
    t.same([evaluations, is_complete, values.length], [10, false, 10]);
    t.same(values.at(-1), [first, 1]);
    t.equal(events.length, 1);
  },
);

t.test('with a grouping a test has events of groups, and no values', async (t) => {
  says([{ group: { model: 'a' }, value: 1 }]);
  const { events, values } = await test(own, { alert: BODY, hours: 1 });
  t.same(values, []);
  t.match(events, [{ event: 'fired', group: { model: 'a' }, value: 1 }]);
});
