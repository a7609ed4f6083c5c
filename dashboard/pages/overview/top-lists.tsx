/** Where requests, cost and errors come from. */
import { call } from '../../client/call.ts';
import { useKeyNames } from '../../client/key-names.ts';
import { type Resource, useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { besideBar } from '../../parts/query-bar/beside-bar.ts';
import { useAddress } from '../../state/address.ts';
import { errorGroups } from './contents.ts';
import { type OverviewData, useTop } from './data.ts';
import { groupValue } from './measures.ts';
import type { OverviewScope } from './scope.ts';
import { TopList } from './top-list.tsx';

/** Where `topQuery` has its measures. */
const PLACES = { requests: 0, cost: 1 };
/** Characters of an id that are enough to tell keys apart. */
const SHORT_ID = 8;

function Properties({ scope }: { scope: OverviewScope }) {
  const { query, set } = useAddress();
  const { data: names } = useResource('property names', (signal) =>
    call<string[]>('GET', '/v1/property/keys', undefined, signal),
  );
  const chosen = query.property ?? names?.[0] ?? null;
  const { data, failure, isLoading, reload } = useTop(scope, chosen === null ? null : `property:${chosen}`);
  if (chosen === null) return null;
  const shown = besideBar(failure, scope.q);
  if (shown !== null) return <FailureNotice failure={shown} retry={reload} />;
  return (
    <TopList
      title="Properties"
      none="Without this property"
      field={`property.${chosen}`}
      groups={data?.series ?? []}
      places={PLACES}
      total={data?.total.total[0] ?? 0}
      isLoading={isLoading}
    >
      <select
        aria-label="Property"
        value={chosen}
        onChange={(event) => set({ property: event.currentTarget.value }, { replace: true })}
      >
        {[...new Set([chosen, ...(names ?? [])])].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </TopList>
  );
}

function Top({
  resource,
  scope,
  ...props
}: { resource: Resource<Parameters<typeof errorGroups>[0]>; scope: OverviewScope } & Pick<
  Parameters<typeof TopList>[0],
  'title' | 'none' | 'field' | 'nameOf'
>) {
  const { data, failure, isLoading, reload } = resource;
  const shown = besideBar(failure, scope.q);
  if (shown !== null) return <FailureNotice failure={shown} retry={reload} />;
  return (
    <TopList
      {...props}
      groups={data?.series ?? []}
      places={PLACES}
      total={data?.total.total[0] ?? 0}
      isLoading={isLoading}
    />
  );
}

/** Shows models, users, values of a property, errors and keys. */
export function TopLists({
  data: { models, statuses },
  scope,
}: {
  data: OverviewData;
  scope: OverviewScope;
}) {
  const users = useTop(scope, 'user');
  const keys = useTop(scope, 'api_key');
  const names = useKeyNames(keys.data?.series.map(groupValue) ?? []);
  const keyName = (id: string) => names.get(id) ?? `Key ${id.slice(0, SHORT_ID)}`;
  const errors = statuses.data === null ? [] : errorGroups(statuses.data);
  return (
    <div class="overview-lists">
      <TopList
        title="Models"
        none="No model"
        field="model_used"
        groups={models.data?.series ?? []}
        places={{ requests: 1, cost: 0 }}
        total={models.data?.total.total[1] ?? 0}
        isLoading={models.isLoading}
      />
      <Top resource={users} scope={scope} title="Users" none="No user" field="user" />
      <Properties scope={scope} />
      <TopList
        title="Errors"
        none="No status"
        field="status"
        groups={errors}
        places={{ requests: 0, cost: null }}
        total={errors.reduce((sum, { total: [requests] }) => sum + (requests ?? 0), 0)}
        nameOf={(status) => `Status ${status}`}
        isLoading={statuses.isLoading}
      />
      <Top resource={keys} scope={scope} title="API keys" none="No key" field="api_key" nameOf={keyName} />
    </div>
  );
}
