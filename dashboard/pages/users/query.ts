/** What the list of users asks of the API. Pure. */
import type { UserMetric, UserMetricsBody } from '#core/contracts/users.ts';
import type { Sort } from '../../parts/table/sort.ts';

/** Users of a page. */
export const PAGE = 50;

/** The columns, all of which the API sorts by. */
const METRICS: Readonly<Record<UserMetric, true>> = {
  user_id: true,
  active_for: true,
  first_active: true,
  last_active: true,
  total_requests: true,
  average_requests_per_day_active: true,
  average_tokens_per_request: true,
  total_completion_tokens: true,
  total_prompt_tokens: true,
  cost: true,
};

/** Reads the number of a page, from 1. */
export function readPage(text: string | undefined): number {
  const page = Number(text);
  return Number.isSafeInteger(page) && page >= 1 && page <= 1_000_000_000 ? page : 1;
}

export type UsersAsked = { q: string; range: { from: number; to: number }; sort: Sort | null; page: number };

/** Returns the body of the query; an order that there is not is the usual one. */
export function bodyOf({ q, range: { from, to }, sort, page }: UsersAsked): UserMetricsBody {
  const isKnown = sort !== null && Object.hasOwn(METRICS, sort.column);
  return {
    ...(q.trim() === '' ? {} : { q }),
    timeFilter: { startTimeUnixSeconds: from / 1_000, endTimeUnixSeconds: to / 1_000 },
    timeZoneDifferenceMinutes: new Date(to).getTimezoneOffset(),
    ...(isKnown ? { sort: { [sort.column]: sort.descending ? 'desc' : 'asc' } } : {}),
    offset: (page - 1) * PAGE,
    limit: PAGE,
  };
}
