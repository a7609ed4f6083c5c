/** The columns of the list of sessions. */
import type { SessionRow } from '#core/contracts/session.ts';
import { Moment } from '../../parts/formats/moment.tsx';
import { count, dollars, milliseconds, NOTHING } from '../../parts/formats/numbers.ts';
import { Rating } from '../../parts/formats/rating.tsx';
import { pageOf } from '../../parts/links/page-of.ts';
import { ROW_LINK } from '../../parts/table/row-keys.ts';
import type { Column } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { type Address, href } from '../../state/address.ts';

function durationOf({ created_at: first, latest_request_created_at: latest }: SessionRow): number {
  return Date.parse(latest) - Date.parse(first);
}

/** @param address to which a click on a name adds it */
export function columnsFor({ path, query }: Pick<Address, 'path' | 'query'>): Column<SessionRow>[] {
  const ofName = (name: string) => href(path, { ...query, name, page: null });
  return [
    {
      name: 'session',
      title: 'Session',
      cell: ({ session_id: id }) => (
        <a class={`sessions-id ${ROW_LINK}`} href={pageOf('session', id)}>
          <Hostile text={id} />
        </a>
      ),
    },
    {
      name: 'name',
      title: 'Name',
      cell: ({ session_name: name }) =>
        name === null ? (
          NOTHING
        ) : (
          <a class="filter-value sessions-name" href={ofName(name)} title="Sessions of this name">
            <Hostile text={name} />
          </a>
        ),
    },
    {
      name: 'requests',
      title: 'Requests',
      cell: ({ total_requests: requests }) => count(requests),
      isNumber: true,
    },
    {
      name: 'duration',
      title: 'Duration',
      cell: (session) => milliseconds(durationOf(session)),
      isNumber: true,
    },
    { name: 'cost', title: 'Cost', cell: ({ total_cost: cost }) => dollars(cost), isNumber: true },
    { name: 'tokens', title: 'Tokens', cell: ({ total_tokens: tokens }) => count(tokens), isNumber: true },
    {
      name: 'latency',
      title: 'Mean latency',
      cell: ({ avg_latency: latency }) => milliseconds(latency),
      isNumber: true,
    },
    { name: 'rating', title: 'Rating', cell: ({ feedback_rating: rating }) => <Rating of={rating} /> },
    {
      name: 'tag',
      title: 'Tag',
      cell: ({ tag }) =>
        tag === null ? (
          NOTHING
        ) : (
          <span class="chip sessions-tag">
            <Hostile text={tag} />
          </span>
        ),
    },
    { name: 'first', title: 'First request', cell: ({ created_at: first }) => <Moment at={first} /> },
    {
      name: 'latest',
      title: 'Latest',
      cell: ({ latest_request_created_at: latest }) => <Moment at={latest} />,
    },
  ];
}
