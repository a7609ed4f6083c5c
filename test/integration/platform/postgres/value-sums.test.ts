import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { applyAllChanges, recomputeAll, registerRollups } from '../../../support/rollups.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { databaseFor } from '../../../support/world.ts';

const MIGRATION = new URL('../../../../platform/postgres/migrations/0030_value_sums.sql', import.meta.url);
const NOON = Date.UTC(2026, 4, 4, 12);

t.test(
  'the migration of sums of values adds up what the days of an earlier build have, and may be repeated',
  async (t) => {
    const { sql } = await databaseFor(t);
    const organizationId = randomUUID();
    await sql`insert into assay.organizations (organization_id, name) values (${organizationId}, 'upgraded')`;
    const rows = Array.from({ length: 60 }, (_, index) => ({
      created_at: new Date(NOON + index * 3_600_000),
      source: index % 4 === 0 ? 'api' : 'gateway',
      user_id: index % 5 === 0 ? null : `user ${index % 7}`,
      cost_nano: index * 1_000,
      total_tokens: index % 2 === 0 ? null : index,
      properties: { Plan: `plan ${index % 3}` },
    }));
    await insertRequests(sql, organizationId, rows);
    await registerRollups(sql);
    await applyAllChanges(sql);
    await recomputeAll(sql);
    const sums = () => sql`
    select * from assay.rollup_values where dimension in ('user_sum', 'property_sum')
     order by begins_at, dimension, name, source`;
    const computed = [...(await sums())];
    t.ok(computed.length >= 8, 'two sources of two dimensions on some days');
    const migrate = () => sql.begin((tx) => tx.unsafe(readFileSync(MIGRATION, 'utf8')));
    await sql`delete from assay.rollup_values where dimension in ('user_sum', 'property_sum')`;
    await migrate();
    t.same([...(await sums())], computed);
    await migrate();
    t.same([...(await sums())], computed);
  },
);
