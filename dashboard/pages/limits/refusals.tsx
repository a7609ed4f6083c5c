/** Calls of a time range that ended with status 429, by key and by user. */
import type { MetricsAnswer } from '#core/contracts/metrics.ts';
import { call } from '../../client/call.ts';
import { useKeyNames } from '../../client/key-names.ts';
import { type Resource, useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { count, NOTHING } from '../../parts/formats/numbers.ts';
import { addCondition } from '../../parts/query-bar/edit.ts';
import { RangePicker } from '../../parts/range/range-picker.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href } from '../../state/address.ts';
import { type Range, useRange } from '../../state/range.ts';

const REFUSED = 'status:429';
const MOST_GROUPS = 50;

type Group = { value: string | null; refused: number };
type Dimension = 'api_key' | 'user';

function useRefusals(dimension: Dimension, { from, to }: Range): Resource<MetricsAnswer> {
  return useResource(`refusals ${dimension} ${from} ${to}`, (signal) =>
    call<MetricsAnswer>(
      'POST',
      '/v1/metrics/query',
      {
        measures: [{ metric: 'requests', aggregate: 'count' }],
        groupBy: [dimension],
        q: REFUSED,
        range: { from, to },
        bucket: 'none',
        limit: MOST_GROUPS,
      },
      signal,
    ),
  );
}

function groupsOf(answer: MetricsAnswer | null, dimension: Dimension): Group[] {
  return (answer?.series ?? []).map(({ group, total }) => {
    const value = group[dimension];
    return { value: value === null || value === undefined ? null : String(value), refused: total[0] ?? 0 };
  });
}

const COUNT: Column<Group> = {
  name: 'refused',
  title: 'Refused calls',
  isNumber: true,
  cell: ({ refused }) => count(refused),
};

function By({
  title,
  dimension,
  first,
  refusals: { data, failure, isLoading, reload },
}: {
  title: string;
  dimension: Dimension;
  first: Column<Group>;
  refusals: Resource<MetricsAnswer>;
}) {
  const groups = groupsOf(data, dimension);
  return (
    <section>
      <h3>{title}</h3>
      <FailureNotice failure={failure} retry={reload} />
      {data === null && isLoading && <p class="muted">Loading…</p>}
      {data !== null && (
        <Table
          caption={`Refused calls ${title.toLowerCase()}`}
          columns={[first, COUNT]}
          rows={groups}
          keyOf={({ value }) => JSON.stringify(value)}
          empty={<p>No call was refused in this range.</p>}
        />
      )}
      {data?.other != null && <p class="muted">Others: {count(data.other.total[0])}</p>}
    </section>
  );
}

/** Lists refused calls with links to the requests behind them. */
export function Refusals() {
  const range = useRange();
  const byKey = useRefusals('api_key', range);
  const byUser = useRefusals('user', range);
  const names = useKeyNames(groupsOf(byKey.data, 'api_key').map(({ value }) => value));
  const requests = (q: string) => href('/requests', { q, range: range.name });
  const key: Column<Group> = {
    name: 'key',
    title: 'Key',
    cell: ({ value }) => (
      <a class="break" href={requests(addCondition(REFUSED, 'api_key', value))}>
        {value === null ? 'No key' : <Hostile text={names.get(value) ?? value} />}
      </a>
    ),
  };
  const user: Column<Group> = {
    name: 'user',
    title: 'User',
    cell: ({ value }) =>
      value === null ? (
        NOTHING
      ) : (
        <a class="break" href={requests(addCondition(REFUSED, 'user', value))}>
          <Hostile text={value} />
        </a>
      ),
  };
  return (
    <section class="part">
      <div class="filters">
        <h2>Refused calls</h2>
        <RangePicker />
        <a href={requests(REFUSED)}>The requests</a>
      </div>
      <p class="muted">Calls that ended with status 429: refused by a limit here, or by the provider.</p>
      <div class="cards">
        <By title="By key" dimension="api_key" first={key} refusals={byKey} />
        <By title="By user" dimension="user" first={user} refusals={byUser} />
      </div>
    </section>
  );
}
