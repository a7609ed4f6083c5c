import t from 'tap';
import { bucketBegins } from '#core/metrics/mod.ts';
import { databaseFor } from '../../../support/world.ts';

/** Zones with changes at night and at midnight, of an hour and of half an hour, and none. Their rules are years old. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'America/Santiago',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
];
const TEN_YEARS = { fromMs: Date.UTC(2020, 0, 10), toMs: Date.UTC(2030, 0, 10) };

t.test('days, weeks and months of ten years begin where those of Postgres do', async (t) => {
  const { sql } = await databaseFor(t, { migrated: false });
  for (const timeZone of ZONES) {
    for (const unit of ['day', 'week', 'month'] as const) {
      const begins = bucketBegins(TEN_YEARS, unit, timeZone).map((ms) => new Date(ms).toISOString());
      const wrong = await sql<{ begin: Date }[]>`
        select begin from unnest(${begins}::timestamptz[]) as begin
         where date_trunc(${unit}, begin, ${timeZone}) <> begin
            or date_trunc(${unit}, begin - interval '1 ms', ${timeZone}) >= begin
         limit 3`;
      t.same(wrong, [], `${unit} in ${timeZone}`);
    }
  }
});
