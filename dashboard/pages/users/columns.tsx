/** The columns of the list of users. Their names are the API's. */
import type { UserMetric, UserMetrics } from '#core/contracts/users.ts';
import { Moment } from '../../parts/formats/moment.tsx';
import { count, decimal, dollars } from '../../parts/formats/numbers.ts';
import { pageOf, requestsOf } from '../../parts/links/page-of.ts';
import { ROW_LINK } from '../../parts/table/row-keys.ts';
import type { Column } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';

function metric(
  name: UserMetric,
  title: string,
  cell: Column<UserMetrics>['cell'],
  isNumber = true,
): Column<UserMetrics> {
  return { name, title, cell, isNumber, isSortable: true };
}

const METRICS: readonly Column<UserMetrics>[] = [
  metric('cost', 'Cost', ({ cost }) => dollars(cost)),
  metric('last_active', 'Latest', ({ last_active: last }) => <Moment at={last} />, false),
  metric('total_prompt_tokens', 'Prompt tokens', ({ total_prompt_tokens: tokens }) => count(tokens)),
  metric('total_completion_tokens', 'Completion tokens', ({ total_completion_tokens: tokens }) =>
    count(tokens),
  ),
  metric('average_tokens_per_request', 'Tokens a request', ({ average_tokens_per_request: tokens }) =>
    decimal(tokens),
  ),
  metric('active_for', 'Active days', ({ active_for: days }) => count(days)),
  metric(
    'average_requests_per_day_active',
    'Requests a day',
    ({ average_requests_per_day_active: requests }) => decimal(requests),
  ),
  metric('first_active', 'First request', ({ first_active: first }) => <Moment at={first} />, false),
];

/** @param range of the requests that a link leads to */
export function columnsFor(range: string): Column<UserMetrics>[] {
  return [
    metric(
      'user_id',
      'User',
      ({ user_id: id }) => (
        <a class={`users-id ${ROW_LINK}`} href={pageOf('user', id)} title={id}>
          <Hostile text={id === '' ? '(empty)' : id} />
        </a>
      ),
      false,
    ),
    metric('total_requests', 'Requests', ({ user_id: id, total_requests: requests }) => (
      <a href={requestsOf('user', id, range)}>{count(requests)}</a>
    )),
    ...METRICS,
  ];
}
