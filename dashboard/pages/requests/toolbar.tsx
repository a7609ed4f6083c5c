/** Above the list: the query, the range, and what is done with all that it finds. */

import { useState } from 'preact/hooks';
import { call } from '../../client/call.ts';
import { afterPriority } from '../../client/priority.ts';
import { useResource } from '../../client/resource.ts';
import { count, plural } from '../../parts/formats/numbers.ts';
import { useLater } from '../../parts/later/use-later.ts';
import { RangePicker } from '../../parts/range/range-picker.tsx';
import { canBeLive, type RequestList } from './use-list.ts';

/** Counts stop here until somebody wants to know exactly. */
const MOST = 10_001;

function Total({ list }: { list: RequestList }) {
  const [exactFor, setExactFor] = useState<string | null>(null);
  const name = JSON.stringify([list.q, list.range.name]);
  const isExact = exactFor === name;
  const { data, dataKey } = useResource(list.isLive ? null : `total ${isExact} ${name}`, (signal) =>
    afterPriority(signal, () =>
      call<number | { count: number }>(
        'POST',
        '/v1/request/count/query',
        { q: list.wholeQuery, ...(isExact ? {} : { atMost: MOST }) },
        signal,
      ),
    ),
  );
  if (data === null || dataKey !== `total ${isExact} ${name}`) return null;
  const found = typeof data === 'number' ? data : data.count;
  if (isExact || found < MOST) return <span class="muted">{plural(found, 'request')}</span>;
  return (
    <button type="button" class="quiet muted" title="Count exactly" onClick={() => setExactFor(name)}>
      {count(MOST - 1)}+ requests
    </button>
  );
}

const loadMenus = () => import('./asked.ts').then(({ ListMenus }) => ListMenus);

/** The head of the page. */
export function Toolbar({ list }: { list: RequestList }) {
  const { isLive, address } = list;
  const hasFacets = address.query.facets === '1';
  const ListMenus = useLater(loadMenus, list.isSettled);
  return (
    <div class="page-head">
      <h1>Requests</h1>
      <Total list={list} />
      <RangePicker />
      <button
        type="button"
        aria-pressed={hasFacets}
        onClick={() => address.set({ facets: hasFacets ? null : '1' })}
      >
        Filters
      </button>
      <button
        type="button"
        aria-pressed={isLive}
        disabled={!canBeLive(list)}
        title={canBeLive(list) ? 'Key: l' : 'Only in the order of time, and with a range that ends now'}
        onClick={() => address.set({ live: isLive ? null : '1' })}
      >
        Live
      </button>
      <button type="button" onClick={list.rows.reload}>
        Refresh
      </button>
      {ListMenus !== null && <ListMenus list={list} />}
    </div>
  );
}
