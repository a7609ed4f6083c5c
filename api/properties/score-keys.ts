/** The keys of all scores, from roll-ups, and from rows where these are not up to date. */
import type { ScoreKey } from '#core/contracts/names.ts';
import { Parameters, type Statement } from '#core/filter/mod.ts';
import type { Segment } from '#core/rollups/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { cellsOfSegments, planRollups, rowSpansOfSegments } from '#platform/rollups/mod.ts';
import { runStatement } from '../requests/mod.ts';

const MAX_KEYS = 1_000;
/** Before and after all requests. */
const ALL_TIMES = { fromMs: Date.UTC(2020, 0, 1), toMs: Date.UTC(2100, 0, 1) };

/**
 * Lists the keys of all scores, those with the most scores first.
 * @param tx a transaction of the organization that reads one snapshot
 */
export async function findScoreKeys(tx: TransactionSql, organizationId: string): Promise<ScoreKey[]> {
  const planned = await planRollups(tx, organizationId, { family: 'scores', ...ALL_TIMES, boundariesMs: [] });
  const all = planned?.segments ?? [{ grainSeconds: 'rows' as const, ...ALL_TIMES }];
  // The sums of weeks that were dropped are kept; their scores are gone.
  const beginMs = planned === null ? ALL_TIMES.fromMs : (planned.rowsBeginMs ?? ALL_TIMES.toMs);
  const kept = all
    .filter(({ toMs }) => toMs > beginMs)
    .map((segment) => ({ ...segment, fromMs: Math.max(segment.fromMs, beginMs) }));
  return runStatement<ScoreKey>(tx, scoreKeysStatement(organizationId, kept));
}

function scoreKeysStatement(organizationId: string, segments: readonly Segment[]): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const cells = cellsOfSegments(
    { table: 'rollup_scores', level: 'source' },
    segments,
    organization,
    parameters,
  );
  const text = `
    select key, sum(count)::float8 as count, min(least) as min, max(greatest) as max from (
      select c.key, c.value_count as count, c.value_min as least, c.value_max as greatest from ${cells} where c.metric = 'score'
      union all
      select s.key, 1, s.value, s.value from ${rowSpansOfSegments(segments, parameters)}
       cross join lateral (
         select s.key, s.value from assay.request_scores s
          where s.organization_id = ${organization} and s.created_at >= span.from_at and s.created_at < span.to_at offset 0) s) scores
     group by key order by 2 desc, key limit ${MAX_KEYS}`;
  return { text, values: parameters.values };
}
