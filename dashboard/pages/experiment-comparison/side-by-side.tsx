/** One item with the answers of both sides, what differs marked. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { StoredDatasetItem } from '#core/contracts/dataset.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { datasetPath } from '../../parts/datasets/load.ts';
import { requestPreview, valuePreview } from '../../parts/datasets/preview.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Fact, Facts } from '../../parts/formats/fact.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href } from '../../state/address.ts';
import { loadCompared } from '../compare/load.ts';
import { TextColumns } from '../compare/text-columns.tsx';

export type SideBySideProps = {
  item: { datasetId: string; version: number; itemId: string; name: string };
  /** Of the baseline and of the candidate. */
  requestIds: readonly [string, string];
  onClose: () => void;
};

function ItemFacts({ item }: { item: StoredDatasetItem }) {
  if ('erased' in item) return <p class="muted">The item was erased.</p>;
  return (
    <Facts>
      <Fact name="Question">
        <Hostile text={requestPreview(item.request)} />
      </Fact>
      {item.expected !== undefined && (
        <Fact name="Expected">
          <Hostile text={valuePreview(item.expected)} />
        </Fact>
      )}
    </Facts>
  );
}

/** Shows the item, and the answers beside one another. */
export function SideBySide({
  item: { datasetId, version, itemId, name },
  requestIds,
  onClose,
}: SideBySideProps) {
  const path = datasetPath(datasetId, `/items/${encodeURIComponent(itemId)}?version=${version}`);
  const item = useResource(`item ${path}`, (signal) =>
    call<StoredDatasetItem>('GET', path, undefined, signal),
  );
  const key = `answers ${requestIds.join(' ')}`;
  const answers = useResource(key, (signal) => loadCompared(requestIds, signal));
  const failure = item.failure ?? answers.failure;
  const box = useRef<HTMLElement>(null);
  // The button may be far below.
  useLayoutEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), []);
  return (
    <section ref={box} class="card comparison-item" aria-label="Answers side by side">
      <div class="filters">
        <h3 class="break">
          <Hostile text={name} />
        </h3>
        <a href={href('/compare', { ids: requestIds.join(',') })}>Compare the whole requests</a>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      <FailureNotice failure={failure} retry={item.failure === null ? answers.reload : item.reload} />
      {item.data !== null && <ItemFacts item={item.data} />}
      {answers.data === null && answers.isLoading && <p class="muted">Loading both answers …</p>}
      {answers.data !== null && answers.dataKey === key && (
        <TextColumns
          texts={answers.data.map(({ texts }) => texts.response)}
          base={0}
          isDiff
          titles={['Baseline', 'Candidate']}
        />
      )}
    </section>
  );
}
