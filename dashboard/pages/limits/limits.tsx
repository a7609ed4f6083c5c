/** Rate limits: what is used of them, and which calls they and the providers refused. */
import { useKeyNames } from '../../client/key-names.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { useAddress } from '../../state/address.ts';
import { Refusals } from './refusals.tsx';
import { useUsage } from './usage.ts';
import { UsageTable } from './usage-table.tsx';

/** The page /limits. */
export function Limits() {
  const { query, set } = useAddress();
  const find = query.find ?? '';
  const { data, failure, isLoading, isOfText, reload } = useUsage(find.trim());
  const names = useKeyNames(data?.map(({ api_key_id: id }) => id) ?? []);
  return (
    <>
      <header class="page-head">
        <h1>Limits</h1>
        <a href="/keys">Policies of keys</a>
      </header>
      <section class="part">
        <h2>In use now</h2>
        <div class="filters">
          <label>
            Find{' '}
            <input
              type="search"
              placeholder="Key, user or value"
              value={find}
              onInput={({ currentTarget }) => set({ find: currentTarget.value }, { replace: true })}
            />
          </label>
        </div>
        <FailureNotice failure={failure} retry={reload} />
        {data === null && isLoading && <p class="muted">Loading…</p>}
        {data !== null && <UsageTable usage={data} names={names} isOfText={isOfText} />}
      </section>
      <Refusals />
    </>
  );
}
