/** Chips of frequent queries, each with the number of requests behind it. */
import { useEffect } from 'preact/hooks';
import { call } from '../../client/call.ts';
import { afterPriority } from '../../client/priority.ts';
import { useResource } from '../../client/resource.ts';
import { shortCount } from '../../parts/formats/numbers.ts';
import { whenRated } from '../../state/ratings.ts';
import { QUICK } from './chips.ts';
import type { RequestList } from './use-list.ts';

const MOST = 1_000;

/** Counts stop here: a chip tells many from few. */
async function countAll(list: RequestList, signal: AbortSignal): Promise<number[]> {
  const { from, to } = list.range;
  const created = `created:${new Date(from).toISOString()}..${new Date(to).toISOString()}`;
  const answers = await Promise.all(
    QUICK.map(({ q }) =>
      call<{ count: number }>(
        'POST',
        '/v1/request/count/query',
        { q: `${q} ${created}`, atMost: MOST },
        signal,
      ),
    ),
  );
  return answers.map(({ count }) => count);
}

/** Each is pressed while the query is its own. */
export function QuickFilters({ list }: { list: RequestList }) {
  const { data, reload } = useResource(`quick ${list.range.name}`, (signal) =>
    afterPriority(signal, () => countAll(list, signal)),
  );
  useEffect(() => whenRated(reload), [reload]);
  return (
    <div class="requests-quick">
      {QUICK.map(({ title, q }, index) => {
        const isOn = list.q === q;
        const found = data?.[index];
        return (
          <button
            key={q}
            type="button"
            class="chip"
            aria-pressed={isOn}
            title={q}
            onClick={() => list.address.set({ q: isOn ? null : q })}
          >
            {title}
            {found !== undefined && (
              <span class="muted">{found >= MOST ? `${shortCount(MOST)}+` : shortCount(found)}</span>
            )}
          </button>
        );
      })}
    </div>
  );
}
