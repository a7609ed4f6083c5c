/** An empty list: which condition excludes everything, and what to do about it. */
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { EmptyProduct } from '../../parts/empty-product/empty-product.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { count, plural } from '../../parts/formats/numbers.ts';
import { readTerms, withoutTerm } from '../../parts/query-bar/terms.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { ALL_TIME, PRESETS, withRange } from '../../state/range.ts';
import type { RequestList } from './use-list.ts';

/** Counts stop here: some are enough to know. */
const ENOUGH = 1_000;
/** Conditions that are tried. */
const MOST_TERMS = 8;

type Way = { title: string; found: number; changes: Record<string, string | null> };

async function countOf(q: string, signal: AbortSignal): Promise<number> {
  const body = { q, atMost: ENOUGH };
  return (await call<{ count: number }>('POST', '/v1/request/count/query', body, signal)).count;
}

/** Counts what each single change of the query would find. */
async function waysOut({ q, range }: RequestList, signal: AbortSignal): Promise<Way[]> {
  const terms = (readTerms(q) ?? []).slice(0, MOST_TERMS);
  const without = terms.map(async ({ text }, index) => {
    const rest = withoutTerm(q, terms, index);
    return {
      title: `Without ${text}`,
      found: await countOf(withRange(rest, range), signal),
      changes: { q: rest },
    };
  });
  const widest = PRESETS.at(-1)!;
  const now = Date.now();
  const wider = countOf(withRange(q, { from: now - widest.ms, to: now + 60_000 }), signal).then((found) => ({
    title: widest.label,
    found,
    changes: { range: widest.name },
  }));
  const all = countOf(withRange(q, { from: 0, to: now }), signal).then((found) => ({
    title: 'All times',
    found,
    changes: { range: ALL_TIME },
  }));
  return (await Promise.all([...without, wider, all])).filter(({ found }) => found > 0);
}

/** Shows the ways out, each with what it would find. */
export function NothingFound({ list }: { list: RequestList }) {
  const { data, failure, reload } = useResource(`ways out ${list.q} ${list.range.name}`, (signal) =>
    waysOut(list, signal),
  );
  const isUnfiltered = list.q.trim() === '';
  if (isUnfiltered && data?.length === 0) return <EmptyProduct onFirst={list.rows.reload} />;
  return (
    <div class="empty">
      <p>
        <strong>No request passes this query in this range.</strong>
      </p>
      <FailureNotice failure={failure} retry={reload} />
      {data !== null && data.length === 0 && <p class="muted">No single change of it would find one.</p>}
      {data?.map(({ title, found, changes }) => (
        <p key={title}>
          <button type="button" onClick={() => list.address.set({ ...changes, at: null })}>
            <Hostile text={title} />
          </button>{' '}
          <span class="muted">
            {found >= ENOUGH ? `${count(ENOUGH)}+ requests` : plural(found, 'request')}
          </span>
        </p>
      ))}
    </div>
  );
}
