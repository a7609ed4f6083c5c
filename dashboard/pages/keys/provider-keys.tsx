/** The keys of providers that the gateway uses: written here, and never shown again. */
import { useState } from 'preact/hooks';
import type { ProviderName } from '#core/contracts/provider.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Form } from '../../parts/form/form.tsx';
import { Select } from '../../parts/form/select.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { NOTHING } from '../../parts/formats/numbers.ts';
import { MissingScope } from '../../parts/scope/missing-scope.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { tell } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';

/** An answer of `GET /v1/provider-keys`. */
type ProviderKey = {
  provider: string;
  hint: string | null;
  readable: boolean;
  created_at: string;
  updated_at: string;
};

const PATH = '/v1/provider-keys';
/** By their usual names. The type asks for all of them. */
const NAMES: Record<ProviderName, string> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  azure: 'Azure',
  google: 'Google',
  mistral: 'Mistral',
  groq: 'Groq',
  deepseek: 'DeepSeek',
  xai: 'xAI',
  together: 'Together',
  openrouter: 'OpenRouter',
  custom: 'Custom address',
};
const PROVIDERS = Object.entries(NAMES).map(([name, label]) => ({ name, label }));
/** Returns the usual name of a provider. */
function nameOf(provider: string): string {
  return (NAMES as Readonly<Record<string, string>>)[provider] ?? provider;
}
const FIRST_PROVIDER: ProviderName = 'openai';

function Actions({ provider }: { provider: string }) {
  const { set } = useAddress();
  if (!may('write')) return null;
  return (
    <div class="row-actions">
      <button
        type="button"
        aria-label={`Replace the key of ${nameOf(provider)}`}
        onClick={() => set({ put: provider })}
      >
        Replace
      </button>
      <button
        type="button"
        aria-label={`Remove the key of ${nameOf(provider)}`}
        onClick={() => set({ remove: provider })}
      >
        Remove
      </button>
    </div>
  );
}

const COLUMNS: readonly Column<ProviderKey>[] = [
  { name: 'provider', title: 'Provider', cell: ({ provider }) => nameOf(provider) },
  {
    name: 'hint',
    title: 'Key',
    cell: ({ hint, readable }) =>
      readable ? (
        <code>{hint === null ? NOTHING : `…${hint}`}</code>
      ) : (
        <span class="bad">Cannot be opened with today's SECRET_KEY: calls that need it are refused</span>
      ),
  },
  { name: 'created', title: 'Stored', cell: ({ created_at }) => <Moment at={created_at} /> },
  {
    name: 'updated',
    title: 'Replaced',
    cell: ({ created_at, updated_at }) => (
      <Moment at={updated_at === created_at ? null : updated_at} none="never" />
    ),
  },
  { name: 'actions', title: 'Actions', cell: ({ provider }) => <Actions provider={provider} /> },
];

function StoreKey({
  begin,
  onClose,
  onStored,
}: {
  begin: string;
  onClose: () => void;
  onStored: () => void;
}) {
  const [provider, setProvider] = useState<string>(begin === '' ? FIRST_PROVIDER : begin);
  const [key, setKey] = useState('');
  const title = begin === '' ? 'Add a provider key' : `Replace the key of ${nameOf(begin)}`;
  const store = async () => {
    await call('PUT', `${PATH}/${encodeURIComponent(provider)}`, { key });
    tell(`The key of ${nameOf(provider)} is stored: gateways use it within a second`);
    onStored();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form verb="Store" onSubmit={store}>
        {begin === '' && (
          <Select label="Provider" options={PROVIDERS} value={provider} onChange={setProvider} />
        )}
        <TextField
          label="Key"
          hint="It is encrypted, used for this organization's calls, and never shown again."
          type="password"
          isRequired
          value={key}
          onInput={setKey}
        />
      </Form>
    </Dialog>
  );
}

function Dialogs({ reload }: { reload: () => void }) {
  const { query, set } = useAddress();
  const { put, remove } = query;
  const close = () => set({ put: null, remove: null });
  if (put !== undefined)
    return <StoreKey begin={put === 'new' ? '' : put} onClose={close} onStored={reload} />;
  if (remove === undefined) return null;
  return (
    <Confirm
      title={`Remove the key of ${nameOf(remove)}?`}
      text="Calls to this provider then need a key of the operator's, or are refused."
      verb="Remove"
      run={async () => {
        await call('DELETE', `${PATH}/${encodeURIComponent(remove)}`);
        tell('Removed');
        reload();
      }}
      onClose={close}
    />
  );
}

/** Lists, adds, replaces and removes provider keys. */
export function ProviderKeys() {
  const { set } = useAddress();
  const { data, failure, isLoading, reload } = useResource('provider keys', (signal) =>
    call<ProviderKey[]>('GET', PATH, undefined, signal),
  );
  return (
    <>
      <MissingScope scope="write" what="Storing and removing provider keys" />
      <div class="filters">
        <button type="button" class="primary" disabled={!may('write')} onClick={() => set({ put: 'new' })}>
          Add a provider key
        </button>
      </div>
      <FailureNotice failure={failure} retry={reload} />
      {data === null && isLoading && <p class="muted">Loading…</p>}
      {data !== null && (
        <Table
          caption="Provider keys"
          columns={COLUMNS}
          rows={data}
          keyOf={({ provider }) => provider}
          empty={<p>No provider key is stored: calls use the operator's keys, where there are some.</p>}
        />
      )}
      {may('write') && <Dialogs reload={reload} />}
    </>
  );
}
