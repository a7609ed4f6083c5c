/** Measures sessions, for their distributions: requests, milliseconds, nano-dollars. */
import type { Statement } from '#core/filter/mod.ts';
import type { Point } from '#core/sessions/mod.ts';
import { type Draft, draftFor, finish, namesCondition, windowCondition } from './conditions.ts';
import { acrossBound } from './page.ts';
import type { Names, Window } from './read-query.ts';

/** The measures, in the order of their numbers in statements. */
export const MEASURES = ['session_count', 'session_duration', 'session_cost'] as const;
export type Measure = (typeof MEASURES)[number];

/** A distribution: how many sessions have each value, and the exact sum of all. */
export type Distribution = { points: Point[]; sum: number };

/** Up to so many sessions, every value is told apart; of more, the first three digits. A statement of more takes over 10 ms. */
export const EXACT_SESSIONS = 5_000;

/** A time whose short sessions are known without a statement, by when they began. */
export type Known = { from: Date; to: Date };

/** The values of one measure, in ascending order, and how often each occurs. Three rows of arrays are read faster than thousands. */
export type MeasuredRow = {
  measure: number;
  values: string[];
  counts: string[];
  sum: string;
  is_large: boolean;
};

/** Powers of ten that a bigint holds, from a thousand. */
const POWERS = Array.from({ length: 16 }, (_, index) => `1000${'0'.repeat(index)}`);

/** Writes a value with its first three digits, the others zero. Comparisons take a fifth of the time of logarithms. */
export function threeDigits(value: string): string {
  const cases = POWERS.map((power) => {
    const kept = power.slice(0, -3);
    return kept === '1'
      ? `when ${value} < ${power} then ${value}`
      : `when ${value} < ${power} then ${value} - ${value} % ${kept}`;
  });
  return `case ${cases.join(' ')} else ${value} - ${value} % ${POWERS.at(-1)!.slice(0, -2)} end`;
}

/** The milliseconds from a session's first to its latest request. */
const durationOf = (first: string, last: string) =>
  `round(date_part('epoch', ${last} - ${first}) * 1000)::int8`;

/** Expressions of the measures of a row `s` of `assay.sessions`. */
export const MEASURED = `s.requests, ${durationOf('s.first_at', 's.last_at')} as duration_ms, s.cost_nano`;

/** The measures of a row `m`, each as a row `v`. */
export const EACH_MEASURE =
  'cross join lateral (values (0, m.requests), (1, m.duration_ms), (2, m.cost_nano::int8)) v (measure, value)';

/** Measures requests `r`, grouped by session. */
const GROUPED = `select count(*) as requests, ${durationOf('min(r.created_at)', 'max(r.created_at)')} as duration_ms, sum(r.cost_nano) as cost_nano`;

/** Measures the sessions of requests that a FROM clause finds. */
export function measureFiltered(organizationId: string, from: (draft: Draft) => string): Statement {
  const draft = draftFor(organizationId);
  return finish(draft, distribute(`${GROUPED} ${from(draft)} group by r.session_id`, false));
}

/**
 * Measures the sessions in a window, each by its requests inside.
 * @param without short sessions that began then are left out
 */
export function measureWindow(
  organizationId: string,
  window: Window,
  names: Names,
  without: Known | null,
): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const matching = namesCondition(names, 's.session_id', draft);
  const bind = (moment: Date) => parameters.bind(moment.toISOString(), 'timestamptz');
  const end = window.to === null ? '' : windowCondition({ from: null, to: window.to }, 's.last_at', draft);
  const whole = `select ${MEASURED} from assay.sessions s where s.organization_id = ${organization}${windowCondition(window, 's.first_at', draft)}${end}${matching}`;
  const wholes =
    without === null
      ? [whole]
      : [
          `${whole} and not s.is_long and s.first_at < ${bind(without.from)}`,
          `${whole} and not s.is_long and s.first_at >= ${bind(without.to)}`,
          `${whole} and s.is_long`,
        ];
  const cut = [window.from, window.to].flatMap((bound) =>
    bound === null ? [] : [acrossBound(bound, 's.session_id', draft, matching)],
  );
  const parts =
    cut.length === 0
      ? []
      : [
          `${GROUPED} from assay.requests r
            where r.organization_id = ${organization} and r.source <> 'evaluator' and r.session_id is not null
              and r.session_id = any(array(${cut.join(' union ')}))
              ${windowCondition(window, 'r.created_at', draft)}
            group by r.session_id`,
        ];
  const measured = [...wholes, ...parts].join(' union all ');
  return finish(draft, distribute(measured, without !== null));
}

function distribute(measured: string, isPartOfMany: boolean): string {
  const isLarge = isPartOfMany
    ? 'true as is_large'
    : `count(*) > ${EXACT_SESSIONS} as is_large from measured`;
  return `
    with measured as materialized (${measured}), size as (select ${isLarge})
    select measure, array_agg(value order by value) as values, array_agg(count order by value) as counts,
           sum(sum) as sum, bool_or(is_large) as is_large
      from (
        select v.measure, case when size.is_large then ${threeDigits('v.value')} else v.value end as value,
               count(*) as count, sum(v.value) as sum, size.is_large
          from measured m cross join size ${EACH_MEASURE}
         where v.value is not null
         group by 1, 2, 5) grouped
     group by measure`;
}
