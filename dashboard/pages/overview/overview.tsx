/** The first page: what went through, what it cost, how well it went. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { call } from '../../client/call.ts';
import { facetValues, loadFieldNames } from '../../parts/facets/values-later.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { useLater } from '../../parts/later/use-later.ts';
import { besideBar } from '../../parts/query-bar/beside-bar.ts';
import { QueryBar } from '../../parts/query-bar/query-bar.tsx';
import { RangePicker } from '../../parts/range/range-picker.tsx';
import { useAddress } from '../../state/address.ts';
import { useRange } from '../../state/range.ts';
import { useOverview } from './data.ts';
import { Health } from './health.tsx';
import { totalOf, totalPlace } from './measures.ts';
import { useScope } from './scope.ts';
import { Tiles } from './tiles.tsx';

export { askOverviewAhead } from './scope.ts';

const loadCharts = () => import('./below.ts').then(({ Charts }) => Charts);
const loadTopLists = () => import('./below.ts').then(({ TopLists }) => TopLists);
const loadEmptyProduct = () => import('./below.ts').then(({ EmptyProduct }) => EmptyProduct);

function Query() {
  const { query, set } = useAddress();
  const q = query.q ?? '';
  const { from, to } = useRange();
  const completeValues = useMemo(() => facetValues({ q, from, to }), [q, from, to]);
  return (
    <QueryBar
      value={q}
      onCommit={(next) => set({ q: next })}
      completeValues={completeValues}
      loadNames={loadFieldNames}
    />
  );
}

function Compare() {
  const { query, set } = useAddress();
  const isOn = query.compare === '1';
  return (
    <button type="button" aria-pressed={isOn} onClick={() => set({ compare: isOn ? null : '1' })}>
      Period before
    </button>
  );
}

/** Calls `onEmpty` when there is no request at all, of any time. */
function useEmptiness(isNothingFound: boolean, onEmpty: () => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once for each finding, not for each new function
  useEffect(() => {
    if (!isNothingFound) return;
    const controller = new AbortController();
    call<{ count: number }>(
      'POST',
      '/v1/request/count/query',
      { filter: 'all', atMost: 1 },
      controller.signal,
    )
      .then(({ count }) => {
        if (count === 0) onEmpty();
      })
      // Empty charts stay.
      .catch(() => {});
    return () => controller.abort();
  }, [isNothingFound]);
}

function Figures({ onEmpty }: { onEmpty: () => void }) {
  const scope = useScope();
  const data = useOverview(scope);
  const { totals, statuses, models, grades } = data;
  const isNothingFound =
    totals.data !== null &&
    !totals.isLoading &&
    scope.q === '' &&
    totalOf(totalPlace(totals.data, 'requests')) === 0;
  useEmptiness(isNothingFound, onEmpty);
  const Charts = useLater(loadCharts, true);
  const TopLists = useLater(loadTopLists, true);
  const failed = [totals, statuses, models, grades].filter(
    ({ failure }) => besideBar(failure, scope.q) !== null,
  );
  const retry = () => {
    for (const { reload } of failed) reload();
  };
  const notice = <FailureNotice failure={failed[0]?.failure ?? null} retry={retry} />;
  // Without an answer, lists would say that the range has nothing.
  if (totals.data === null && totals.failure !== null) return notice;
  return (
    <>
      {notice}
      <Tiles data={data} />
      {Charts !== null && <Charts data={data} scope={scope} />}
      {TopLists !== null && <TopLists data={data} scope={scope} />}
    </>
  );
}

/** Shows the overview, or how to send a first request. */
export function Overview() {
  const [isEmpty, setEmpty] = useState(false);
  const EmptyProduct = useLater(loadEmptyProduct, isEmpty);
  return (
    <div class="overview">
      <div class="page-head">
        <h1>Overview</h1>
        {!isEmpty && (
          <>
            <RangePicker />
            <Compare />
          </>
        )}
      </div>
      {!isEmpty && <Query />}
      <Health />
      {EmptyProduct !== null && <EmptyProduct onFirst={() => setEmpty(false)} />}
      {!isEmpty && <Figures onEmpty={() => setEmpty(true)} />}
    </div>
  );
}
