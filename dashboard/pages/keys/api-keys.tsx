/** The API keys of the organization. */
import { useState } from 'preact/hooks';
import type { KeyJson, NewKeyJson } from '#core/contracts/keys.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { MissingScope } from '../../parts/scope/missing-scope.tsx';
import { MoreButton } from '../../parts/table/more-button.tsx';
import { Table } from '../../parts/table/table.tsx';
import { type Pages, usePages } from '../../parts/table/use-pages.ts';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { KEY_COLUMNS } from './key-columns.tsx';
import { ChangeKey, CreateKey, NewKey, RevokeKey, RotateKey } from './key-dialogs.tsx';

/** Keys of one page of the API. */
const PAGE = 100;

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

/** The dialog that the address names, for a key that is listed or not. */
function Dialogs({ keys, reload }: { keys: readonly KeyJson[]; reload: () => void }) {
  const { query, set } = useAddress();
  const [made, setMade] = useState<NewKeyJson | null>(null);
  const id = query.edit ?? query.rotate ?? query.revoke;
  const listed = keys.find((key) => key.id === id);
  const unlisted = useResource(id !== undefined && listed === undefined ? `key ${id}` : null, (signal) =>
    call<KeyJson>('GET', `/v1/keys/${encodeURIComponent(id!)}`, undefined, signal),
  );
  const apiKey = listed ?? unlisted.data;
  const close = () => set({ new: null, edit: null, rotate: null, revoke: null });
  const show = (key: NewKeyJson) => {
    setMade(key);
    close();
    reload();
  };
  if (made !== null) return <NewKey made={made} onClose={() => setMade(null)} />;
  if (query.new !== undefined) return <CreateKey onClose={close} onMade={show} />;
  if (apiKey === null) return <FailureNotice failure={unlisted.failure} retry={unlisted.reload} />;
  if (query.edit === id) return <ChangeKey apiKey={apiKey} onClose={close} onChanged={reload} />;
  if (query.rotate === id) return <RotateKey apiKey={apiKey} onClose={close} onMade={show} />;
  return <RevokeKey apiKey={apiKey} onClose={close} onChanged={reload} />;
}

/** Loads the keys of a state with a text, the newest first; `after` is how many came before. */
function useKeyList(state: string, search: string): Pages<KeyJson> {
  return usePages(`keys ${JSON.stringify([state, search])}`, async (after, signal) => {
    const query = new URLSearchParams({
      limit: String(PAGE),
      offset: after ?? '0',
      ...(state !== 'all' && { state }),
      ...(search !== '' && { search }),
    });
    const rows = await call<KeyJson[]>('GET', `/v1/keys?${query}`, undefined, signal);
    const next = rows.length < PAGE ? null : String(Number(after ?? 0) + rows.length);
    return { rows, next };
  });
}

/** Lists, creates, changes, rotates and revokes API keys. */
export function ApiKeys() {
  return may('write') ? <KeyList /> : <MissingScope scope="write" what="Seeing and making API keys" />;
}

function KeyList() {
  const { query } = useAddress();
  const search = (query.find ?? '').trim();
  const { data, rows, failure, isLoading, reload, more } = useKeyList(query.state ?? 'active', search);
  return (
    <>
      <Filters />
      <FailureNotice failure={failure} retry={reload} />
      {data === null && isLoading && <p class="muted">Loading…</p>}
      {data !== null && (
        <Table
          caption="API keys"
          columns={KEY_COLUMNS}
          rows={rows}
          keyOf={({ id }) => id}
          isLoading={isLoading}
          empty={<p>{search === '' ? 'There are no such keys.' : 'No key has this text.'}</p>}
        />
      )}
      <MoreButton more={more} />
      <Dialogs keys={rows} reload={reload} />
    </>
  );
}
