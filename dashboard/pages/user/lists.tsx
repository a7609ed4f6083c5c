/** Lists on a user's page: models, sessions, limits, the latest requests. */
import type { ComponentChildren } from 'preact';
import type { Facets } from '#core/contracts/facets.ts';
import type { UsageJson } from '#core/contracts/limit-usage.ts';
import type { RequestRow, RowPage } from '#core/contracts/rows.ts';
import type { SessionRow } from '#core/contracts/session.ts';
import { call } from '../../client/call.ts';
import { type Resource, useResource } from '../../client/resource.ts';
import { fieldOfFacet } from '../../parts/facets/fields.ts';
import { loadFacet } from '../../parts/facets/load.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { count, decimal, dollars, milliseconds } from '../../parts/formats/numbers.ts';
import { pageOf } from '../../parts/links/page-of.ts';
import { addCondition } from '../../parts/query-bar/edit.ts';
import { StatusChip } from '../../parts/request/status-chip.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href } from '../../state/address.ts';
import { amountOf, windowName } from './usage.ts';
import type { UserScope } from './use-scope.ts';

/** Rows of each list. */
const LISTED = 10;

type ListProps<Row> = {
  title: string;
  resource: Resource<unknown>;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  empty: string;
  /** Beside the title. */
  children?: ComponentChildren;
};

function List<Row>({ title, resource, rows, columns, keyOf, empty, children }: ListProps<Row>) {
  const { failure, isLoading, reload } = resource;
  return (
    <section class="user-list card">
      <div class="user-list-head">
        <h2>{title}</h2>
        {children}
      </div>
      <FailureNotice failure={failure} retry={reload} />
      <Table
        caption={title}
        columns={columns}
        rows={rows}
        keyOf={keyOf}
        isLoading={isLoading}
        empty={failure === null ? empty : undefined}
      />
    </section>
  );
}

type Model = Facets['values'][number];

/** The models that the user's requests went to. */
export function Models({ scope }: { scope: UserScope }) {
  const { q, from, to, name } = scope;
  const resource = useResource(`user models ${JSON.stringify([q, name])}`, (signal) =>
    loadFacet('model', { q, from, to }, { search: '', limit: LISTED }, signal),
  );
  const columns: Column<Model>[] = [
    {
      name: 'model',
      title: 'Model',
      cell: ({ value }) => (
        <a
          class="filter-value"
          href={href('/requests', { q: addCondition(q, fieldOfFacet('model'), value), range: name })}
        >
          <Hostile text={String(value ?? 'none')} />
        </a>
      ),
    },
    { name: 'requests', title: 'Requests', cell: (model) => count(model.count), isNumber: true },
  ];
  return (
    <List
      title="Models"
      resource={resource}
      rows={resource.data?.values ?? []}
      columns={columns}
      keyOf={({ value }) => JSON.stringify(value)}
      empty="None in this range"
    />
  );
}

const SESSIONS: readonly Column<SessionRow>[] = [
  {
    name: 'session',
    title: 'Session',
    cell: ({ session_id: id, session_name: name }) => (
      <a href={pageOf('session', id)}>
        <Hostile text={name ?? id} />
      </a>
    ),
  },
  { name: 'requests', title: 'Requests', cell: (session) => count(session.total_requests), isNumber: true },
  { name: 'cost', title: 'Cost', cell: (session) => dollars(session.total_cost), isNumber: true },
  {
    name: 'latest',
    title: 'Latest',
    cell: (session) => <Moment at={session.latest_request_created_at} />,
  },
];

/** The newest sessions with a request of the user. */
export function Sessions({ scope }: { scope: UserScope }) {
  const { q, from, to, name } = scope;
  const timeFilter = { startTimeUnixMs: from, endTimeUnixMs: to };
  const resource = useResource(`user sessions ${JSON.stringify([q, name])}`, (signal) =>
    call<SessionRow[]>('POST', '/v1/session/query', { q, timeFilter, limit: LISTED }, signal),
  );
  return (
    <List
      title="Sessions"
      resource={resource}
      rows={resource.data ?? []}
      columns={SESSIONS}
      keyOf={({ session_id: id }) => id}
      empty="None in this range"
    >
      <a href={href('/sessions', { q, range: name })}>All</a>
    </List>
  );
}

const LIMITS: readonly Column<UsageJson>[] = [
  { name: 'window', title: 'Window', cell: (usage) => windowName(usage) },
  { name: 'used', title: 'Used', cell: (usage) => amountOf(usage, usage.used), isNumber: true },
  { name: 'quota', title: 'Quota', cell: (usage) => amountOf(usage, usage.quota), isNumber: true },
  {
    name: 'remaining',
    title: 'Remaining',
    cell: (usage) => amountOf(usage, usage.remaining),
    isNumber: true,
  },
  {
    name: 'reset',
    title: 'Free again in',
    cell: (usage) => milliseconds(usage.reset_seconds * 1_000),
    isNumber: true,
  },
];

/** The counters of limits by user that are in use now. */
export function Limits({ id }: { id: string }) {
  const resource = useResource(`limit usage ${id}`, (signal) =>
    call<UsageJson[]>('GET', href('/v1/rate-limit/usage', { value: id }), undefined, signal),
  );
  return (
    <List
      title="Limits in use now"
      resource={resource}
      rows={(resource.data ?? []).filter(({ segment }) => segment === 'user')}
      columns={LIMITS}
      keyOf={(usage) =>
        JSON.stringify([usage.api_key_id, usage.unit, usage.window_seconds, usage.is_key_policy])
      }
      empty="No limit counts this user now"
    />
  );
}

const COLUMNS = [
  'request_id',
  'request_created_at',
  'response_status',
  'model',
  'delay_ms',
  'total_tokens',
  'cost',
  'preview_in',
];

function requestColumns(): Column<RequestRow>[] {
  return [
    {
      name: 'time',
      title: 'Time',
      cell: ({ request_id: id, request_created_at: at }) => (
        <a href={`/requests/${encodeURIComponent(id)}`}>
          <Moment at={String(at)} />
        </a>
      ),
    },
    {
      name: 'status',
      title: 'Status',
      cell: ({ response_status: status }) => <StatusChip status={status ?? 0} />,
    },
    { name: 'model', title: 'Model', cell: ({ model }) => <Hostile text={model ?? ''} /> },
    { name: 'latency', title: 'Latency', cell: (row) => milliseconds(row.delay_ms), isNumber: true },
    { name: 'tokens', title: 'Tokens', cell: (row) => decimal(row.total_tokens), isNumber: true },
    { name: 'cost', title: 'Cost', cell: (row) => dollars(row.cost), isNumber: true },
    {
      name: 'text',
      title: 'Asked',
      cell: ({ preview_in: text }) => (
        <span class="user-preview">
          <Hostile text={text ?? ''} />
        </span>
      ),
    },
  ];
}

/** The newest requests of the user. */
export function LatestRequests({ scope }: { scope: UserScope }) {
  const { wholeQuery, q, name } = scope;
  const resource = useResource(`user requests ${JSON.stringify([q, name])}`, (signal) =>
    call<RowPage>('POST', '/v1/request/rows', { q: wholeQuery, columns: COLUMNS, limit: LISTED }, signal),
  );
  return (
    <List
      title="Latest requests"
      resource={resource}
      rows={resource.data?.rows ?? []}
      columns={requestColumns()}
      keyOf={({ request_id: id }) => id}
      empty="None in this range"
    >
      <a href={href('/requests', { q, range: name })}>All</a>
    </List>
  );
}
