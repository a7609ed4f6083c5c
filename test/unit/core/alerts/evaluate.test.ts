import t from 'tap';
import {
  type AlertRule,
  type Comparison,
  evaluate,
  MOST_GROUPS,
  type Reading,
  resolveAll,
  type TrackedGroup,
} from '#core/alerts/mod.ts';

const rule: AlertRule = { comparison: '>', threshold: 10, warning: null, forMs: 0, noData: 'ok' };
const at = (minute: number) => ({ nowMs: minute * 60_000, elapsedMs: minute === 0 ? 0 : 60_000 });
const of = (model: string, value: number | null): Reading => ({ group: { model }, value });
const alone = (value: number | null): Reading[] => [{ group: {}, value }];
const short = ({ events }: ReturnType<typeof evaluate>) =>
  events.map(({ group, severity, event }) => `${group.model ?? ''} ${severity} ${event}`.trim());

t.test('each comparison is beyond its threshold, or at it where it says so', async (t) => {
  const fires = (comparison: Comparison) =>
    [9, 10, 11].map(
      (value) => evaluate({ ...rule, comparison }, [], alone(value), at(0)).events.length === 1,
    );
  t.same(fires('>'), [false, false, true]);
  t.same(fires('>='), [false, true, true]);
  t.same(fires('<'), [true, false, false]);
  t.same(fires('<='), [true, true, false]);
});

t.test('a warning fires before the alert is critical, and each is resolved by itself', async (t) => {
  const both = { ...rule, warning: 5 };
  let groups: readonly TrackedGroup[] = [];
  const told = [3, 7, 12, 20, 7, 3, 12].map((value, minute) => {
    const found = evaluate(both, groups, alone(value), at(minute));
    groups = found.groups;
    return short(found);
  });
  t.same(told, [
    [],
    ['warning fired'],
    ['critical fired'],
    [],
    ['critical resolved'],
    ['warning resolved'],
    ['critical fired', 'warning fired'],
  ]);
});

t.test('each group fires and is resolved by itself, and groups that are well are forgotten', async (t) => {
  const first = evaluate(rule, [], [of('a', 11), of('b', 9), of('c', 12)], at(0));
  t.same(short(first), ['a critical fired', 'c critical fired']);
  t.same(
    first.groups.map(({ group }) => group.model),
    ['a', 'c'],
  );
  const second = evaluate(rule, first.groups, [of('a', 11), of('b', 11), of('c', 1)], at(1));
  t.same(short(second), ['c critical resolved', 'b critical fired']);
});

t.test('a group that is missing is resolved, goes on or fires, as missing data means', async (t) => {
  const { groups } = evaluate(rule, [], [of('a', 11)], at(0));
  const gone = (noData: AlertRule['noData']) => evaluate({ ...rule, noData }, groups, [], at(1));
  t.same(short(gone('ok')), ['a critical resolved']);
  t.same(gone('ok').events[0]!.value, null);
  t.same([short(gone('keep')), gone('keep').groups], [[], groups]);
  t.same(short(gone('alert')), []);
  const watched = { ...rule, noData: 'alert' as const };
  const well = evaluate(watched, [], [of('a', 1)], at(0));
  t.same(short(well), []);
  t.same(short(evaluate(watched, well.groups, [], at(1))), ['a critical fired']);
  t.same(short(evaluate(watched, [], alone(null), at(0))), ['critical fired'], 'without a grouping too');
});

t.test(
  'groups beyond the most that are tracked are counted, and have a place once there is room',
  async (t) => {
    const many = Array.from({ length: MOST_GROUPS + 3 }, (_, index) => of(`m${index}`, 11));
    const first = evaluate(rule, [], many, at(0));
    t.equal(first.events.length, MOST_GROUPS);
    t.same([first.groups.length, first.skipped], [MOST_GROUPS, 3]);
    const second = evaluate(rule, first.groups, [of('m0', 1), ...many.slice(1)], at(1));
    t.same(short(second), ['m0 critical resolved', 'm100 critical fired']);
    t.equal(second.skipped, 2);
    const many_well = evaluate(
      rule,
      [],
      many.map(({ group }) => ({ group, value: 1 })),
      at(0),
    );
    t.same([many_well.groups.length, many_well.skipped], [0, 0], 'groups that are well need no place');
  },
);

t.test('groups are told apart by name and value, whatever the order of their members', async (t) => {
  const before = evaluate(rule, [], [{ group: { a: '1', b: null }, value: 11 }], at(0)).groups;
  const again = evaluate(rule, before, [{ group: { b: null, a: '1' }, value: 11 }], at(1));
  t.same(again.events, []);
  const other = evaluate(rule, before, [{ group: { a: 1, b: null }, value: 11 }], at(1));
  t.same(
    other.events.map(({ event }) => event),
    ['resolved', 'fired'],
    'a number is another value than its text',
  );
});

t.test('everything that fires can be resolved at once, or one severity of it', async (t) => {
  const { groups } = evaluate({ ...rule, warning: 5 }, [], [of('a', 11), of('b', 7)], at(0));
  const named = (events: ReturnType<typeof resolveAll>) =>
    events.map(({ group, severity, event }) => `${group.model} ${severity} ${event}`);
  t.same(named(resolveAll(groups)), ['a critical resolved', 'a warning resolved', 'b warning resolved']);
  t.same(named(resolveAll(groups, ['critical'])), ['a critical resolved']);
});
