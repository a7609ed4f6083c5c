import { randomUUID } from 'node:crypto';
import t from 'tap';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createRequestIdReservations } from '../../../../gateway/request/request-id.ts';
import { createWorld } from '../../../support/world.ts';

t.test(
  "a caller's request id is reserved once, and accepted unchecked while Postgres is unavailable",
  async (t) => {
    const world = await createWorld(t);
    const proxy = await world.proxy();
    const sql = world.connect({ url: proxy.url });
    const time = { ms: 0 };
    const claim = createRequestIdReservations({
      sql,
      clock: { monotonic: () => time.ms },
      log: createLogger({ role: 'test', level: 'silent' }),
    });
    const [organization, other] = [randomUUID(), randomUUID()];
    const id = randomUUID();
    t.equal(await claim(organization, id), true);
    t.equal(await claim(organization, id), false, 'used before');
    t.equal(await claim(other, id), true, 'each organization has its own');

    proxy.freeze();
    const startedAt = systemClock.monotonic();
    t.equal(await claim(organization, randomUUID()), true);
    const waitedMs = systemClock.monotonic() - startedAt;
    t.ok(waitedMs < 4_000, `it waited for ${Math.round(waitedMs)} ms`);
    t.equal(await claim(organization, id), true, 'nobody is asked for a second');
    proxy.thaw();
    t.equal(await claim(organization, id), true, 'though it would answer again');
    time.ms += 1_000;
    t.equal(await claim(organization, id), false, 'then it is asked');

    await proxy.cut();
    t.equal(await claim(organization, id), true);
  },
);

t.test("a caller's request id is accepted unchecked while Postgres has no room, locks or time", async (t) => {
  const { sql } = await createWorld(t);
  await sql.unsafe(`
    create table refusal (state text);
    create function assay.refuse() returns trigger language plpgsql as $$ begin
      raise exception 'not now' using errcode = (select state from refusal);
    end $$;
    create trigger refuse before insert on assay.claimed_request_ids execute function assay.refuse()`);
  const claim = createRequestIdReservations({
    sql,
    clock: systemClock,
    log: createLogger({ role: 'test', level: 'silent' }),
  });
  // A full disk last: it is an outage, in which nothing is asked.
  for (const state of ['53200', '57014', '40P01', '53100']) {
    await sql`truncate refusal`;
    await sql`insert into refusal values (${state})`;
    t.equal(await claim(randomUUID(), randomUUID()), true, state);
  }
});
