/** The items that lost, the largest loss first, with the requests of both sides. */
import type { ComparisonJson, MetricComparisonJson } from '#core/contracts/comparison.ts';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import { datasetAddress } from '../../parts/datasets/load.ts';
import { NOTHING } from '../../parts/formats/numbers.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { useAddress } from '../../state/address.ts';
import { type Candidate, chosenCandidate, chosenMetric, metricsWithLosses } from './losses.ts';
import { SideBySide } from './side-by-side.tsx';
import { differenceText, keyOf, nameOf, valueText } from './words.ts';

type Loss = MetricComparisonJson['regressions'][number];

const itemName = ({ external_id, item_id }: Loss) => external_id ?? item_id;

function RequestLink({ id, label }: { id: string | null; label: string }) {
  if (id === null) return <span class="muted">{label}: none</span>;
  return <a href={`/requests/${encodeURIComponent(id)}`}>{label}</a>;
}

function Both({ loss, isOpen, onOpen }: { loss: Loss; isOpen: boolean; onOpen: () => void }) {
  if (loss.baseline_request_id === null || loss.candidate_request_id === null) return <>{NOTHING}</>;
  return (
    <button type="button" aria-pressed={isOpen} onClick={onOpen}>
      Side by side
    </button>
  );
}

function columnsOf(
  metric: MetricComparisonJson,
  { dataset_id, dataset_version }: ExperimentJson,
  open: { id: string | undefined; set: (id: string | null) => void },
): Column<Loss>[] {
  return [
    {
      name: 'item',
      title: 'Item',
      cell: (loss) => (
        <a
          class="break"
          href={datasetAddress(dataset_id, { version: String(dataset_version), item: loss.item_id })}
        >
          <Hostile text={itemName(loss)} />
        </a>
      ),
    },
    {
      name: 'before',
      title: 'Baseline',
      isNumber: true,
      cell: ({ baseline }) => valueText(metric, baseline),
    },
    {
      name: 'after',
      title: 'Candidate',
      isNumber: true,
      cell: ({ candidate }) => valueText(metric, candidate),
    },
    {
      name: 'difference',
      title: 'Difference',
      isNumber: true,
      cell: ({ difference }) => <span class="bad">{differenceText(metric, difference)}</span>,
    },
    {
      name: 'requests',
      title: 'Requests',
      cell: ({ baseline_request_id, candidate_request_id }) => (
        <span class="chips">
          <RequestLink id={baseline_request_id} label="Baseline" />
          <RequestLink id={candidate_request_id} label="Candidate" />
        </span>
      ),
    },
    {
      name: 'both',
      title: 'Both',
      cell: (loss) => {
        const isOpen = loss.item_id === open.id;
        return <Both loss={loss} isOpen={isOpen} onOpen={() => open.set(isOpen ? null : loss.item_id)} />;
      },
    },
  ];
}

function Choices({
  comparison,
  candidate,
  metric,
}: {
  comparison: ComparisonJson;
  candidate: Candidate;
  metric: MetricComparisonJson | null;
}) {
  const { set } = useAddress();
  const change = (changes: Record<string, string>) => set({ ...changes, item: null }, { replace: true });
  return (
    <div class="filters">
      <h2>Items that lost the most</h2>
      {comparison.candidates.length > 1 && (
        <select
          aria-label="Candidate of the losses"
          value={candidate.id}
          onChange={({ currentTarget }) => change({ candidate: currentTarget.value })}
        >
          {comparison.candidates.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      {metric !== null && (
        <select
          aria-label="Metric of the losses"
          value={keyOf(metric)}
          onChange={({ currentTarget }) => change({ metric: currentTarget.value })}
        >
          {metricsWithLosses(candidate).map((one) => (
            <option key={keyOf(one)} value={keyOf(one)}>
              {nameOf(one)}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

function OpenItem({ loss, baseline }: { loss: Loss | undefined; baseline: ExperimentJson }) {
  const { set } = useAddress();
  if (!loss || loss.baseline_request_id === null || loss.candidate_request_id === null) return null;
  const { dataset_id: datasetId, dataset_version: version } = baseline;
  return (
    <SideBySide
      key={loss.item_id}
      item={{ datasetId, version, itemId: loss.item_id, name: itemName(loss) }}
      requestIds={[loss.baseline_request_id, loss.candidate_request_id]}
      onClose={() => set({ item: null }, { replace: true })}
    />
  );
}

/** Shows the losses of the metric and the candidate in the address. */
export function Losses({ comparison, baseline }: { comparison: ComparisonJson; baseline: ExperimentJson }) {
  const { query, set } = useAddress();
  const candidate = chosenCandidate(comparison, query.candidate);
  if (candidate === null) return null;
  const metric = chosenMetric(candidate, query.metric);
  const losses = metric?.regressions ?? [];
  const open = { id: query.item, set: (item: string | null) => set({ item }, { replace: true }) };
  return (
    <section class="part">
      <Choices comparison={comparison} candidate={candidate} metric={metric} />
      <OpenItem loss={losses.find(({ item_id }) => item_id === query.item)} baseline={baseline} />
      {metric === null ? (
        <p class="muted">No item lost in any metric.</p>
      ) : (
        <Table
          caption="Items that lost the most"
          columns={columnsOf(metric, baseline, open)}
          rows={losses}
          keyOf={({ item_id }) => item_id}
        />
      )}
    </section>
  );
}
