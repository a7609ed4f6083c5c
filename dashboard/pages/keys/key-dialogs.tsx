/** The dialogs of API keys. The address names the one that is open; a key that was just made is nowhere but here. */
import { useState } from 'preact/hooks';
import type { KeyJson, NewKeyJson } from '#core/contracts/keys.ts';
import { call } from '../../client/call.ts';
import { CopyButton } from '../../parts/copy/copy.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { gatewayAddress } from '../../parts/empty-product/gateway.ts';
import { snippetsFor } from '../../parts/empty-product/snippets.ts';
import { Form } from '../../parts/form/form.tsx';
import { Select } from '../../parts/form/select.tsx';
import { ShownOnce } from '../../parts/secret/shown-once.tsx';
import { tell } from '../../parts/toast/toast.tsx';
import { changeBody, createBody, fieldsOf } from './key-fields.ts';
import { KeyForm } from './key-form.tsx';

type Closing = { onClose: () => void; onChanged: () => void };

/** Shows a new key, and how to use it. */
export function NewKey({ made, onClose }: { made: NewKeyJson; onClose: () => void }) {
  return (
    <ShownOnce
      title={`The key ${made.name}`}
      text="Keep it where secrets are kept: it is shown this once, and only its hash is stored."
      secret={made.key}
      what="the key"
      onClose={onClose}
    >
      {made.scopes.includes('gateway') &&
        snippetsFor(gatewayAddress(), made.key).map(({ name, code }) => (
          <details key={name}>
            <summary>{name}</summary>
            <div class="code">
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key */}
              <pre tabIndex={0}>{code}</pre>
              <CopyButton text={code} what={`the ${name} call`} />
            </div>
          </details>
        ))}
    </ShownOnce>
  );
}

/** Makes a key. */
export function CreateKey({ onClose, onMade }: { onClose: () => void; onMade: (made: NewKeyJson) => void }) {
  return (
    <Dialog title="Create an API key" onClose={onClose}>
      <KeyForm
        verb="Create key"
        begin={fieldsOf(null)}
        emptyMeans="What is empty, the expiry too, is as the key has it that is logged in. No key can do more than its maker."
        save={async (fields) => onMade(await call<NewKeyJson>('POST', '/v1/keys', createBody(fields)))}
      />
    </Dialog>
  );
}

/** Changes a key. */
export function ChangeKey({ apiKey, onClose, onChanged }: Closing & { apiKey: KeyJson }) {
  const [begin] = useState(() => fieldsOf(apiKey));
  return (
    <Dialog title={`Change the key ${apiKey.name}`} onClose={onClose}>
      <KeyForm
        verb="Save"
        begin={begin}
        emptyMeans="What is empty is not confined. No key can do more than the one that changes it."
        save={async (fields) => {
          await call('PATCH', `/v1/keys/${apiKey.id}`, changeBody(fields, begin));
          tell('Saved: effective within a second');
          onChanged();
          onClose();
        }}
      />
    </Dialog>
  );
}

const OVERLAPS = [
  { name: '0', label: 'Ends at once' },
  { name: '3600', label: 'Works for 1 hour more' },
  { name: '86400', label: 'Works for 1 day more' },
  { name: '604800', label: 'Works for 7 days more' },
  { name: '2592000', label: 'Works for 30 days more' },
];

/** Makes a key in place of another. */
export function RotateKey({
  apiKey,
  onClose,
  onMade,
}: {
  apiKey: KeyJson;
  onClose: () => void;
  onMade: (made: NewKeyJson) => void;
}) {
  const [overlap, setOverlap] = useState('86400');
  return (
    <Dialog title={`Rotate the key ${apiKey.name}`} onClose={onClose}>
      <Form
        verb="Rotate"
        onSubmit={async () =>
          onMade(
            await call<NewKeyJson>('POST', `/v1/keys/${apiKey.id}/rotate`, {
              overlapSeconds: Number(overlap),
            }),
          )
        }
      >
        <p>A new key with the same scopes and bounds takes its place.</p>
        <Select
          label="The old key"
          hint="Meanwhile both work, so that callers can be changed one after the other."
          options={OVERLAPS}
          value={overlap}
          onChange={setOverlap}
        />
      </Form>
    </Dialog>
  );
}

/** Revokes a key, once that is confirmed. */
export function RevokeKey({ apiKey, onClose, onChanged }: Closing & { apiKey: KeyJson }) {
  return (
    <Confirm
      title={`Revoke the key ${apiKey.name}?`}
      text={`Calls with ${apiKey.prefix}… are refused within a second, and browsers that logged in with it are logged out. This cannot be taken back.`}
      verb="Revoke"
      run={async () => {
        await call('DELETE', `/v1/keys/${apiKey.id}`);
        tell('Revoked');
        onChanged();
      }}
      onClose={onClose}
    />
  );
}
