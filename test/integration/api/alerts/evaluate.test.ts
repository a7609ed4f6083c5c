import t from 'tap';
import { alertWorld, BODY, MINUTE_MS } from './alert-world.ts';

const world = await alertWorld(t);
const { sql, service, own, other, create, advance, says, told, history } = world;
const { evaluate } = world.evaluator();
const second = world.evaluator();
t.afterEach(async () => {
  await sql`delete from assay.alerts`;
  await sql`delete from assay.changes`;
  says(null);
  advance();
});

const minute = async (value: number | null) => {
  says(value);
  await evaluate();
  advance();
};

t.test('an alert fires once and is resolved once, in its state, its history and the feed', async (t) => {
  const { id } = await create();
  t.equal((await service.get(own, id)).state, 'unknown');
  for (const value of [0.01, 0.06, 0.07, 0.02, 0.01]) await minute(value);
  t.same(await told(), ['alert.fired critical', 'alert.resolved critical']);
  t.same(await history(id), ['fired critical', 'resolved critical']);
  t.match(await service.get(own, id), { state: 'ok', firing: [], value: 0.01, error: null });
  t.same(await told(other), []);
});

t.test('what fires shows since when and with which value, and the event says all of it', async (t) => {
  const { id } = await create({ webhooks: [] });
  await minute(0.08);
  const alert = await service.get(own, id);
  t.match(alert, { state: 'critical', firing: [{ group: {}, severity: 'critical', value: 0.08 }] });
  t.equal(alert.firing[0]!.since, alert.evaluated_at);
  const [change] = await sql`select organization_id, created_ats, request_ids, details from assay.changes`;
  t.match(change, {
    organization_id: own,
    request_ids: [],
    details: [
      {
        type: 'alert.fired',
        alert_id: id,
        name: 'Errors',
        severity: 'critical',
        group: {},
        value: 0.08,
        comparison: '>',
        threshold: 0.05,
        window_minutes: 5,
        reason: null,
        message: 'critical: errors avg over 5 min is 0.08, above 0.05',
        webhook_ids: [],
      },
    ],
  });
});

t.test('an alert that must hold fires after that time, and not when it flaps within it', async (t) => {
  await create({ for_minutes: 2 });
  for (const value of [1, 1, 0, 1, 1, 0]) await minute(value);
  t.same(await told(), []);
  for (const value of [1, 1, 1]) await minute(value);
  t.same(await told(), ['alert.fired critical']);
});

t.test(
  'each minute is evaluated once, by its last full minute, whatever the number of processes',
  async (t) => {
    const { id } = await create();
    const ends: number[] = [];
    says((_name, _tx, endMs) => {
      ends.push(endMs);
      return 1;
    });
    await Promise.all([evaluate(), second.evaluate(), evaluate(), second.evaluate()]);
    t.equal(ends.length, 1, 'one of them has the lease');
    t.equal(ends[0]! % MINUTE_MS, 0);
    t.ok(world.now() - ends[0]! < MINUTE_MS + 5_000);
    t.same(await told(), ['alert.fired critical']);
    t.equal(await evaluate(), 0, 'it is not due again within the minute');
    advance();
    await Promise.all([evaluate(), second.evaluate()]);
    t.equal(ends.length, 2);
    t.equal(ends[1]! - ends[0]!, MINUTE_MS);
    t.same(await history(id), ['fired critical']);
  },
);

t.test(
  'a process that is killed before it has written tells nothing, and another tells it once',
  async (t) => {
    await create();
    const proxy = await world.proxy();
    const killed = world.evaluator({ url: proxy.url });
    says(async () => {
      await proxy.cut();
      return 1;
    });
    await t.rejects(killed.evaluate());
    says(1);
    t.same(await told(), []);
    t.equal(await evaluate(), 0, 'the lease of the killed one lasts');
    advance(MINUTE_MS + 1);
    t.equal(await evaluate(), 1);
    t.same(await told(), ['alert.fired critical']);
  },
);

t.test('a process that was thought dead and writes late changes nothing', async (t) => {
  await create();
  const late = Promise.withResolvers<number>();
  const begun = Promise.withResolvers<void>();
  says(() => {
    begun.resolve();
    return late.promise;
  });
  const slow = second.evaluate();
  await begun.promise;
  advance(MINUTE_MS + 1);
  await minute(1);
  await minute(0);
  late.resolve(1);
  await slow;
  t.same(await told(), ['alert.fired critical', 'alert.resolved critical']);
});

t.test(
  'after an outage an alert is evaluated once, for now, and the outage counts as three minutes',
  async (t) => {
    await create({ for_minutes: 5 });
    await minute(1);
    advance(6 * 60 * MINUTE_MS);
    let count = 0;
    says(() => {
      count += 1;
      return 1;
    });
    await evaluate();
    t.equal(count, 1);
    t.same(await told(), [], 'two values six hours apart do not show that it lasted');
    advance();
    await minute(1);
    await minute(1);
    t.same(await told(), ['alert.fired critical']);
  },
);

t.test('a clock that was ahead and is set back keeps no alert waiting until it is there again', async (t) => {
  const { id } = await create();
  await minute(1);
  const hours = 2 * 60 * MINUTE_MS;
  advance(hours);
  await minute(1);
  // Another process died in the hours that have not come.
  await sql`
    update assay.alert_runs set lease = gen_random_uuid(), leased_until = ${new Date(world.now() + MINUTE_MS)}`;
  advance(-hours);
  await minute(0);
  t.same(await told(), ['alert.fired critical', 'alert.resolved critical']);
  t.match(await service.get(own, id), { state: 'ok', value: 0 });
  t.equal(await evaluate(), 1, 'the next minute comes');
  t.equal(await evaluate(), 0, 'once');
});

t.test('a slow or failing alert says so, is tried ever less often, and stops no other', async (t) => {
  const slow = await create({ name: 'slow' });
  const bad = await create({ name: 'bad' });
  const good = await create({ name: 'good' });
  const impatient = world.evaluator({ statementTimeoutMs: 1_000 });
  const tries = { slow: 0, bad: 0, good: 0 };
  says(async (name, tx) => {
    tries[name as keyof typeof tries] += 1;
    if (name === 'slow') await tx`select pg_sleep(30)`;
    if (name === 'bad') throw new Error('unexpected');
    return 1;
  });
  for (let passed = 0; passed < 8; passed += 1) {
    await impatient.evaluate();
    advance();
  }
  t.same(tries, { slow: 4, bad: 4, good: 8 }, 'after 1, 2 and 4 minutes');
  t.match((await service.get(own, slow.id)).error, /took too long/);
  t.equal((await service.get(own, bad.id)).error, 'The query failed', 'no inner text is shown');
  t.match(await service.get(own, good.id), { state: 'critical', error: null });
  says(0);
  advance(16 * MINUTE_MS);
  await evaluate();
  t.match(await service.get(own, slow.id), { state: 'ok', error: null });
  t.match(await impatient.metrics.text(), /assay_alert_evaluations_total\{outcome="error"[^}]*\} 8/);
});

t.test('organizations take turns: many alerts of one do not hold up the others', async (t) => {
  for (let index = 0; index < 20; index += 1) await create({ name: `own ${index}` });
  await create({ name: 'other' }, other);
  const order: string[] = [];
  says((name) => {
    order.push(name);
    return 0;
  });
  await evaluate();
  t.ok(order.slice(0, 2).includes('other'), 'one of each organization in a claim');
  t.equal(order.length, 21);
});

t.test('while a slow alert of one organization is measured, all alerts of others are', async (t) => {
  for (let index = 0; index < 3; index += 1) await create({ name: `slow ${index}` });
  for (let index = 0; index < 20; index += 1) await create({ name: `other ${index}` }, other);
  const { next } = world.evaluator();
  const measured = Promise.withResolvers<number>();
  const begun: string[] = [];
  says((name) => {
    begun.push(name);
    return name.startsWith('slow') ? measured.promise : 0;
  });
  const lane = async () => {
    while (await next());
  };
  const lanes = [lane(), lane()];
  await Promise.race(lanes);
  t.equal(begun.filter((name) => name.startsWith('other')).length, 20);
  t.equal(begun.length, 21, 'and one slow one at a time');
  measured.resolve(0);
  await Promise.all(lanes);
  t.equal(begun.length, 23);
});

t.test(
  'an alert that is deleted while it fires is resolved, and an evaluation under way tells nothing',
  async (t) => {
    const { id } = await create({ warning: 0.01 });
    await minute(1);
    says(async () => {
      await service.remove(own, id);
      return 0;
    });
    await evaluate();
    t.same(await told(), [
      'alert.fired critical',
      'alert.fired warning',
      'alert.resolved critical deleted',
      'alert.resolved warning deleted',
    ]);
    t.equal((await sql`select from assay.alert_runs`).length, 0);
    t.equal((await sql`select from assay.alert_history`).length, 0);
  },
);

t.test('a change while an evaluation is under way makes that evaluation void', async (t) => {
  const { id } = await create();
  says(async () => {
    says(1);
    await service.change(own, id, { threshold: 5 });
    return 1;
  });
  await evaluate();
  t.same(await told(), []);
  t.equal((await service.get(own, id)).state, 'ok', 'it was evaluated again, with its new threshold');
});

t.test(
  'a whole alert that comes back with the same query goes on firing, as the form of the pages sends it',
  async (t) => {
    const query = { measures: BODY.query.measures, groupBy: ['model'], q: 'user:"a\u0000b"' } as const;
    const { id } = await create({ query: { ...query, groupBy: [...query.groupBy] } });
    says([{ group: { model: 'gpt-4o' }, value: 1 }]);
    await evaluate();
    const { measures, groupBy, q } = query;
    await service.change(own, id, {
      ...BODY,
      name: 'Renamed',
      query: { q, groupBy: [...groupBy], measures },
    });
    await evaluate();
    t.same(await told(), ['alert.fired critical']);
    t.match(await service.get(own, id), { name: 'Renamed', firing: [{ group: { model: 'gpt-4o' } }] });
  },
);

t.test('what a changed alert no longer watches is resolved, and the rest goes on firing', async (t) => {
  const { id } = await create({ warning: 0.01 });
  await minute(1);
  await service.change(own, id, { name: 'Renamed', threshold: 0.06, webhooks: [] });
  t.equal((await service.get(own, id)).firing.length, 2, 'thresholds and names leave it as it is');
  await service.change(own, id, { warning: null });
  t.same((await told()).slice(2), ['alert.resolved warning changed']);
  await service.change(own, id, { query: { measures: [{ metric: 'cost', aggregate: 'sum' }] } });
  t.same((await told()).slice(3), ['alert.resolved critical changed']);
  await minute(1);
  await service.change(own, id, { enabled: false });
  t.same((await told()).slice(4), ['alert.fired critical', 'alert.resolved critical disabled']);
  advance();
  t.equal(await evaluate(), 0, 'it is not evaluated while it is disabled');
  t.equal((await service.get(own, id)).state, 'disabled');
  await service.change(own, id, { enabled: true });
  await minute(1);
  t.same((await told()).slice(6), ['alert.fired critical']);
});

t.test('missing data resolves, keeps or fires, as the alert says', async (t) => {
  const said = async (no_data: 'ok' | 'alert' | 'keep', values: (number | null)[]) => {
    const { id } = await create({ no_data });
    for (const value of values) await minute(value);
    const events = await history(id);
    await service.remove(own, id);
    return events;
  };
  t.same(await said('ok', [1, null]), ['fired critical', 'resolved critical']);
  t.same(await said('keep', [1, null, null]), ['fired critical']);
  t.same(await said('alert', [0, null, null, 0]), ['fired critical', 'resolved critical']);
});

t.test('groups of hostile names fire and are resolved, and are shown as they are', async (t) => {
  const query = { ...BODY.query, groupBy: ['property:Plan' as const] };
  const { id } = await create({ query });
  const names = ['"; drop table alerts; --', '😀', 'x'.repeat(10_000), null];
  says(names.map((plan) => ({ group: { 'property:Plan': plan }, value: 1 })));
  await evaluate();
  const { firing } = await service.get(own, id);
  t.same(
    firing.map(({ group }) => group['property:Plan']),
    names,
  );
  advance();
  says([]);
  await evaluate();
  t.equal((await history(id)).length, 8);
});

t.test('the history of an alert that flaps for ever is bounded, and read page by page', async (t) => {
  const { id } = await create();
  await sql`
    insert into assay.alert_history (organization_id, alert_id, at, event, severity, grouping)
    select ${own}, ${id}, now(), case when n % 2 = 1 then 'fired' else 'resolved' end, 'critical', '{}'
      from generate_series(1, 1000) n`;
  await minute(1);
  const [kept] = await sql<{ count: number }[]>`select count(*)::int4 as count from assay.alert_history`;
  t.equal(kept!.count, 1_000);
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof service.history>> = await service.history(own, id, {
      ...(after !== null && { after }),
    });
    ids.push(...page.entries.map((entry) => entry.id));
    after = page.next;
  } while (after !== null);
  t.equal(new Set(ids).size, 1_000);
  t.equal(ids.length, 1_000);
});
