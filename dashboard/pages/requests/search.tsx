/** What the list is of: the query, and what it finds over time. */
import { useMemo } from 'preact/hooks';
import { facetValues, loadFieldNames } from '../../parts/facets/values-later.ts';
import { useLater } from '../../parts/later/use-later.ts';
import { QueryBar } from '../../parts/query-bar/query-bar.tsx';
import { rangeName } from '../../state/range.ts';
import type { RequestList } from './use-list.ts';

const loadHistogram = () => import('./asked.ts').then(({ Histogram }) => Histogram);

/** The bar, and the bars below it. */
export function Search({ list }: { list: RequestList }) {
  const { q, address } = list;
  const { from, to, set } = list.range;
  const Histogram = useLater(loadHistogram, list.isSettled);
  const completeValues = useMemo(() => facetValues({ q, from, to }), [q, from, to]);
  return (
    <>
      <QueryBar
        value={q}
        onCommit={(next) => address.set({ q: next })}
        completeValues={completeValues}
        loadNames={loadFieldNames}
        onOpenId={(id) => address.set({ r: id })}
      />
      <div class="requests-histogram">
        {Histogram !== null && (
          <Histogram q={q} from={from} to={to} onRange={(first, last) => set(rangeName(first, last))} />
        )}
      </div>
    </>
  );
}

const loadPanel = () => import('./asked.ts').then(({ FacetPanel }) => FacetPanel);

/** Values to filter by, beside the list: `facets=1` in the address. */
export function Facets({ list }: { list: RequestList }) {
  const { q, address } = list;
  const { from, to } = list.range;
  const Panel = useLater(loadPanel, address.query.facets === '1');
  if (Panel === null) return null;
  return <Panel q={q} from={from} to={to} onChange={(next) => address.set({ q: next })} />;
}
