/** The API keys of the organization. */
import { useState } from 'preact/hooks';
import type { KeyJson, NewKeyJson } from '#core/contracts/keys.ts';
import { MOST_LOADED } from '../../client/load-pages.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { MissingScope } from '../../parts/scope/missing-scope.tsx';
import { Table } from '../../parts/table/table.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { KEY_COLUMNS } from './key-columns.tsx';
import { ChangeKey, CreateKey, NewKey, RevokeKey, RotateKey } from './key-dialogs.tsx';
import { findKeys, loadKeys } from './load-keys.ts';

const STATES = [
  { name: '', label: 'Active' },
  { name: 'expired', label: 'Expired' },
  { name: 'revoked', label: 'Revoked' },
  { name: 'all', label: 'All' },
];

function Filters() {
  const { query, set } = useAddress();
  return (
    <div class="filters">
      <label>
        Find{' '}
        <input
          type="search"
          placeholder="Name, prefix, owner or tag"
          value={query.find ?? ''}
          onInput={({ currentTarget }) => set({ find: currentTarget.value }, { replace: true })}
        />
      </label>
      <label>
        State{' '}
        <select
          value={query.state ?? ''}
          onChange={({ currentTarget }) => set({ state: currentTarget.value })}
        >
          {STATES.map(({ name, label }) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="primary" onClick={() => set({ new: '1' })}>
        Create a key
      </button>
    </div>
  );
}

/** The dialog that the address names. */
function Dialogs({ keys, reload }: { keys: readonly KeyJson[]; reload: () => void }) {
  const { query, set } = useAddress();
  const [made, setMade] = useState<NewKeyJson | null>(null);
  const close = () => set({ new: null, edit: null, rotate: null, revoke: null });
  const show = (key: NewKeyJson) => {
    setMade(key);
    close();
    reload();
  };
  if (made !== null) return <NewKey made={made} onClose={() => setMade(null)} />;
  if (query.new !== undefined) return <CreateKey onClose={close} onMade={show} />;
  const named = (id: string | undefined) => keys.find((key) => key.id === id);
  const [changed, rotated, revoked] = [named(query.edit), named(query.rotate), named(query.revoke)];
  if (changed !== undefined) return <ChangeKey apiKey={changed} onClose={close} onChanged={reload} />;
  if (rotated !== undefined) return <RotateKey apiKey={rotated} onClose={close} onMade={show} />;
  if (revoked !== undefined) return <RevokeKey apiKey={revoked} onClose={close} onChanged={reload} />;
  return null;
}

/** Lists, creates, changes, rotates and revokes API keys. */
export function ApiKeys() {
  const { query } = useAddress();
  const state = query.state === 'all' ? null : (query.state ?? 'active');
  const mayWrite = may('write');
  const { data, dataKey, failure, isLoading, reload } = useResource(
    mayWrite ? `keys ${state}` : null,
    (signal) => loadKeys(state, signal),
  );
  if (!mayWrite) return <MissingScope scope="write" what="Seeing and making API keys" />;
  const found = findKeys(data ?? [], query.find ?? '');
  return (
    <>
      <Filters />
      <FailureNotice failure={failure} retry={reload} />
      {data === null && isLoading && <p class="muted">Loading…</p>}
      {data !== null && (
        <Table
          caption="API keys"
          columns={KEY_COLUMNS}
          rows={found}
          keyOf={({ id }) => id}
          isLoading={isLoading && dataKey !== `keys ${state}`}
          empty={<p>{data.length === 0 ? 'There are no such keys.' : 'No key has this text.'}</p>}
        />
      )}
      {data !== null && data.length >= MOST_LOADED && (
        <p class="muted">These are the newest {MOST_LOADED} keys; there are more.</p>
      )}
      <Dialogs keys={data ?? []} reload={reload} />
    </>
  );
}
