/** How the answer came: every try at a provider, or the cache. */
import { call } from '../../client/call.ts';
import { useKeyNames } from '../../client/key-names.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../failure/failure.tsx';
import { milliseconds } from '../formats/numbers.ts';
import { type Column, Table } from '../table/table.tsx';
import { Hostile } from '../text/hostile.tsx';
import { FilterValue } from '../value/value.tsx';
import { StatusChip } from './status-chip.tsx';

type Attempt = {
  provider: string;
  model: string;
  status: number;
  error_code: string | null;
  latency_ms: number | null;
};
/** The answer of `GET /v1/request/{id}/delivery`. */
type DeliveryJson = {
  api_key_id: string | null;
  cached_from: string | null;
  attempts: Attempt[];
  usage_estimated: boolean;
  price_source: string | null;
  error_code: string | null;
  truncated: boolean;
  stream: boolean;
};

const COLUMNS: readonly Column<Attempt & { number: number }>[] = [
  { name: 'number', title: 'Try', cell: ({ number }) => number },
  { name: 'provider', title: 'Provider', cell: ({ provider }) => provider },
  { name: 'model', title: 'Model', cell: ({ model }) => <Hostile text={model} /> },
  { name: 'status', title: 'Status', cell: ({ status }) => <StatusChip status={status} /> },
  { name: 'error', title: 'Error', cell: ({ error_code: code }) => code ?? '' },
  { name: 'latency', title: 'Latency', isNumber: true, cell: ({ latency_ms: ms }) => milliseconds(ms) },
];

function sentences(delivery: DeliveryJson): string[] {
  const { stream, truncated, usage_estimated: isEstimated, price_source: source } = delivery;
  return [
    stream ? 'Sent as a stream.' : 'Sent in one piece.',
    ...(truncated ? ['The answer ended early.'] : []),
    ...(isEstimated ? ['The tokens were counted here, as the provider did not say.'] : []),
    ...(source === null ? [] : [`Price from ${source}.`]),
  ];
}

/** Shows the tries. */
export function Delivery({ id }: { id: string }) {
  const { data, failure, reload } = useResource(`delivery ${id}`, (signal) =>
    call<DeliveryJson>('GET', `/v1/request/${encodeURIComponent(id)}/delivery`, undefined, signal),
  );
  const names = useKeyNames([data?.api_key_id]);
  if (data === null) return <FailureNotice failure={failure} retry={reload} />;
  const { cached_from: origin, attempts, api_key_id: key, error_code: code } = data;
  return (
    <>
      {origin !== null && (
        <p>
          From the cache: the answer of <a href={`/requests/${encodeURIComponent(origin)}`}>{origin}</a>
        </p>
      )}
      <Table
        caption="Tries at providers"
        columns={COLUMNS}
        rows={attempts.map((attempt, index) => ({ ...attempt, number: index + 1 }))}
        keyOf={({ number }) => String(number)}
        empty="No provider was called."
      />
      {code !== null && (
        <p>
          The gateway itself answered: <FilterValue field="error_code" value={code} page="/requests" />
        </p>
      )}
      {key !== null && (
        <p>
          Called with the key{' '}
          <FilterValue field="api_key" value={key} page="/requests">
            <Hostile text={names.get(key) ?? key} />
          </FilterValue>
        </p>
      )}
      <p class="muted">{sentences(data).join(' ')}</p>
    </>
  );
}
