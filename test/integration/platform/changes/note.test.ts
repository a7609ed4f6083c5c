/** Noting changes: in bounded rows, as JSON that Postgres can hold, and by the API's role for its own organization alone. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { noteChange, readSinkLags } from '#platform/changes/mod.ts';
import { inOrganization } from '#platform/postgres/mod.ts';
import { takeChanges } from '../../../support/noted-changes.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { databaseFor } from '../../../support/world.ts';

const { sql, url } = await databaseFor(t);
const api = connectAsApi(url);
t.teardown(() => api.end({ timeout: 1 }));
const organizationId = randomUUID();
const other = randomUUID();
const at = new Date('2026-03-29T01:30:00.123Z');
const keysOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ createdAt: at, requestId: `r${index}` }));

t.test('changes of many requests become rows of at most 1,000 keys, each with its details', async (t) => {
  const keys = keysOf(2_001);
  const details = keys.map(({ requestId }) => ({ rating: requestId.endsWith('7') }));
  await sql.begin((tx) => noteChange(tx, { organizationId, kind: 'feedback', keys, details }));
  const noted = await takeChanges(sql);
  t.same(
    noted.map(({ requestIds }) => requestIds.length),
    [1_000, 1_000, 1],
  );
  t.same(
    noted.flatMap(({ requestIds }) => requestIds),
    keys.map(({ requestId }) => requestId),
  );
  t.same(
    noted.flatMap((change) => change.details),
    details,
  );
  t.ok(noted.every(({ createdAts }) => createdAts.every((one) => one.getTime() === at.getTime())));
});

t.test('no keys and no details are no change', async (t) => {
  await sql.begin(async (tx) => {
    await noteChange(tx, { organizationId, kind: 'record', keys: [] });
    await noteChange(tx, { organizationId, kind: 'score', keys: [], details: [] });
  });
  t.same(await takeChanges(sql), []);
});

t.test('an event has details and no keys', async (t) => {
  const details = [{ type: 'alert.fired', alert_id: 'a' }];
  await sql.begin((tx) => noteChange(tx, { organizationId, kind: 'event', keys: [], details }));
  t.match(await takeChanges(sql), [{ kind: 'event', requestIds: [], createdAts: [], details }]);
});

t.test('texts that jsonb refuses are noted with replacements, and all others as they are', async (t) => {
  const values = ['a\0b', '\ud800', '😀 "\\', 'x'.repeat(10_000)];
  const details = values.map((value) => ({ key: 'k', value }));
  const keys = keysOf(values.length);
  await sql.begin((tx) => noteChange(tx, { organizationId, kind: 'property', keys, details }));
  const [noted] = await takeChanges(sql);
  t.same(
    (noted!.details as { value: string }[]).map(({ value }) => value),
    ['a\ufffdb', '\ufffd', '😀 "\\', 'x'.repeat(10_000)],
  );
});

t.test(
  "the API's role notes changes of its own organization, and can neither read nor change any",
  async (t) => {
    const change = { kind: 'record' as const, keys: keysOf(1) };
    await inOrganization(api, organizationId, (tx) => noteChange(tx, { organizationId, ...change }));
    await t.rejects(
      inOrganization(api, organizationId, (tx) => noteChange(tx, { organizationId: other, ...change })),
      { code: '42501' },
    );
    await t.rejects(
      inOrganization(
        api,
        organizationId,
        (tx) =>
          tx`insert into assay.changes (xid, organization_id, kind) values ('3', ${organizationId}, 'event')`,
      ),
      { code: '42501' },
      'in the place of another transaction',
    );
    for (const statement of [
      'select * from assay.changes',
      'delete from assay.changes',
      "update assay.changes set kind = 'event'",
      'select * from assay.sinks',
      "insert into assay.sinks (name, cluster) values ('x', 0)",
    ])
      await t.rejects(
        inOrganization(api, organizationId, (tx) => tx.unsafe(statement)),
        { code: '42501' },
        statement,
      );
    t.same(
      await inOrganization(api, organizationId, readSinkLags),
      [],
      'how far the sinks are behind is no secret',
    );
    t.match(await takeChanges(sql), [{ organizationId, requestIds: ['r0'] }]);
  },
);
