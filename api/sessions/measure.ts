/** Measures sessions, for their distributions: requests, milliseconds, nano-dollars. */
import type { Statement } from '#core/filter/mod.ts';
import type { Point } from '#core/sessions/mod.ts';
import { type Draft, draftFor, finish, namesCondition, windowCondition } from './conditions.ts';
import { begunBefore, isCut } from './page.ts';
import type { Names, Window } from './read-query.ts';

/** The measures, in the order of their numbers in statements. */
export const MEASURES = ['session_count', 'session_duration', 'session_cost'] as const;
export type Measure = (typeof MEASURES)[number];

/** A distribution: how many sessions have each value, and the exact sum of all. */
export type Distribution = { points: Point[]; sum: number };

/** Up to so many sessions, every value is told apart; of more, the first three digits. A statement of more takes over 10 ms. */
export const EXACT_SESSIONS = 5_000;

/** Days (UTC), from the first up to, without, the end, whose short sessions are known without a statement. */
export type Days = { first: string; end: string };

/** One value of one measure. */
export type MeasuredRow = { measure: number; value: string; count: string; sum: string; is_large: boolean };

/** Writes a value with its first three digits, the others zero. */
export function threeDigits(value: string): string {
  return `${value} - ${value} % greatest(1, (10::float8 ^ (floor(log(greatest(${value}, 1)::float8)) - 2))::int8)`;
}

/** The milliseconds from a session's first to its latest request. */
const durationOf = (first: string, last: string) =>
  `round(date_part('epoch', ${last} - ${first}) * 1000)::int8`;

/** What is measured of a row `s` of `assay.sessions`. */
export const MEASURED = `s.requests, ${durationOf('s.first_at', 's.last_at')} as duration_ms, s.cost_nano`;

/** The measures of a row `m`, each as a row `v`. */
export const EACH_MEASURE =
  'cross join lateral (values (0, m.requests), (1, m.duration_ms), (2, m.cost_nano::int8)) v (measure, value)';

/** Measures the sessions of requests that a FROM clause finds. */
export function measureFiltered(organizationId: string, from: (draft: Draft) => string): Statement {
  const draft = draftFor(organizationId);
  return finish(draft, distribute(`${GROUPED} ${from(draft)} group by r.session_id`, false));
}

/**
 * Measures the sessions in a window, each by its requests inside.
 * @param without short sessions of these days are left out
 */
export function measureWindow(
  organizationId: string,
  window: Window,
  names: Names,
  without: Days | null,
): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const from = `select s.* from assay.sessions s where s.organization_id = ${organization}${windowCondition(window, 's.first_at', draft)}`;
  const day = (text: string) => `${parameters.bind(text, 'date')}::timestamp at time zone 'UTC'`;
  const began =
    without === null
      ? [from]
      : [
          `${from} and not s.is_long and s.first_at < ${day(without.first)}`,
          `${from} and not s.is_long and s.first_at >= ${day(without.end)}`,
          `${from} and s.is_long`,
        ];
  const before = window.from === null ? [] : [begunBefore(window.from, draft)];
  const candidates = [...began, ...before].join(' union all ');
  const cut = isCut(window, draft);
  const measured = `
    with candidates as materialized (
      select s.* from (${candidates}) s where true${namesCondition(names, 's.session_id', draft)})
    select ${MEASURED} from candidates s where not ${cut}
    union all
    ${GROUPED} from assay.requests r
     where r.organization_id = ${organization} and r.source <> 'evaluator'
       and r.session_id = any(array(select s.session_id from candidates s where ${cut}))
       ${windowCondition(window, 'r.created_at', draft)}
     group by r.session_id`;
  return finish(draft, distribute(measured, without !== null));
}

/** Measures requests `r`, grouped by session. */
const GROUPED = `select count(*) as requests, ${durationOf('min(r.created_at)', 'max(r.created_at)')} as duration_ms, sum(r.cost_nano) as cost_nano`;

function distribute(measured: string, isPartOfMany: boolean): string {
  const isLarge = isPartOfMany ? 'true' : `count(*) > ${EXACT_SESSIONS}`;
  return `
    with measured as materialized (${measured}), size as (select ${isLarge} as is_large from measured)
    select v.measure, case when size.is_large then ${threeDigits('v.value')} else v.value end as value,
           count(*) as count, sum(v.value) as sum, size.is_large
      from measured m cross join size ${EACH_MEASURE}
     where v.value is not null
     group by 1, 2, 5 order by 1, 2`;
}
