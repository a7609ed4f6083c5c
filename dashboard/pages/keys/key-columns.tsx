/** The columns of the list of API keys. */
import type { KeyJson } from '#core/contracts/keys.ts';
import { Moment } from '../../parts/formats/moment.tsx';
import { NOTHING } from '../../parts/formats/numbers.ts';
import { addCondition } from '../../parts/query-bar/edit.ts';
import type { Column } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href, useAddress } from '../../state/address.ts';

const STATE_CHIPS = { active: 'chip chip-good', expired: 'chip chip-warn', revoked: 'chip chip-bad' };

function Chips({ texts }: { texts: readonly string[] }) {
  return (
    <>
      {texts.map((text) => (
        <span key={text} class="chip">
          <Hostile text={text} />
        </span>
      ))}
    </>
  );
}

/** What the calls of a key are confined to, a line for each list. */
function Confined({ models, providers, paths, rate_limit_policy }: KeyJson) {
  const lists = [
    { label: 'Models', texts: models },
    { label: 'Providers', texts: providers },
    { label: 'Paths', texts: paths },
    { label: 'Policy', texts: rate_limit_policy === null ? null : [rate_limit_policy] },
  ].flatMap(({ label, texts }) => (texts === null ? [] : [{ label, texts }]));
  if (lists.length === 0) return <span class="muted">Everything</span>;
  return (
    <>
      {lists.map(({ label, texts }) => (
        <div key={label}>
          {label} <Chips texts={texts} />
        </div>
      ))}
    </>
  );
}

function Actions({ apiKey: { id, name, state } }: { apiKey: KeyJson }) {
  const { set } = useAddress();
  if (state === 'revoked') return null;
  const actions = [
    { label: 'Change', what: 'edit' },
    { label: 'Rotate', what: 'rotate' },
    { label: 'Revoke', what: 'revoke' },
  ];
  return (
    <div class="row-actions">
      {actions.map(({ label, what }) => (
        <button
          key={what}
          type="button"
          aria-label={`${label} the key ${name}`}
          onClick={() => set({ [what]: id })}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

/** Links to the figures of the key, to what it called, and to what was refused of it. */
function Calls({ id, name }: KeyJson) {
  const links = [
    { label: 'Usage', what: 'Usage', path: '/', q: '' },
    { label: 'All', what: 'All requests', path: '/requests', q: '' },
    { label: 'Refused', what: 'Refused requests', path: '/requests', q: 'status:429' },
  ];
  return (
    <div class="row-actions">
      {links.map(({ label, what, path, q }) => (
        <a
          key={label}
          href={href(path, { q: addCondition(q, 'api_key', id) })}
          aria-label={`${what} of the key ${name}`}
        >
          {label}
        </a>
      ))}
    </div>
  );
}

export const KEY_COLUMNS: readonly Column<KeyJson>[] = [
  {
    name: 'name',
    title: 'Name',
    cell: ({ name, state, tags }) => (
      <>
        {name === '' ? <span class="muted">no name</span> : <Hostile text={name} />}{' '}
        {state !== 'active' && <span class={STATE_CHIPS[state]}>{state}</span>} <Chips texts={tags} />
      </>
    ),
  },
  { name: 'prefix', title: 'Key', cell: ({ prefix }) => <code>{prefix}…</code> },
  { name: 'scopes', title: 'Scopes', cell: ({ scopes }) => <Chips texts={scopes} /> },
  {
    name: 'owner',
    title: 'Owner',
    cell: ({ owner }) => (owner === null ? NOTHING : <Hostile text={owner} />),
  },
  { name: 'confined', title: 'Confined to', cell: (key) => <Confined {...key} /> },
  {
    name: 'expires',
    title: 'Expires',
    cell: ({ expires_at }) => <Moment at={expires_at} none="never" />,
  },
  {
    name: 'used',
    title: 'Last used',
    cell: ({ last_used_at }) => <Moment at={last_used_at} none="never" />,
  },
  { name: 'calls', title: 'Requests', cell: (key) => <Calls {...key} /> },
  { name: 'actions', title: 'Actions', cell: (key) => <Actions apiKey={key} /> },
];
