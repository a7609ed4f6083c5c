/** The saved views of a page, and the way to save another. */
import { useState } from 'preact/hooks';
import type { ViewJson, ViewPage } from '#core/contracts/view.ts';
import { call } from '../../client/call.ts';
import type { Resource } from '../../client/resource.ts';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { Confirm } from '../dialog/confirm.tsx';
import { Dialog } from '../dialog/dialog.tsx';
import { FailureNotice } from '../failure/failure.tsx';
import { Field } from '../form/field.tsx';
import { Form } from '../form/form.tsx';
import { Hostile } from '../text/hostile.tsx';
import { tell } from '../toast/toast.tsx';

/** What an address says for the moment only: it belongs to no view. */
const PASSING = ['page', 'r', 'tab', 'p', 'at', 'live', 'find', 'json', 'view'];

/** Returns the query string that a view keeps. */
function viewQuery(search: string): string {
  const parameters = new URLSearchParams(search);
  for (const name of PASSING) parameters.delete(name);
  return parameters.toString();
}

function SaveDialog({
  page,
  onClose,
  onSaved,
}: {
  page: ViewPage;
  onClose: () => void;
  onSaved: () => void;
}) {
  const [name, setName] = useState('');
  const save = async () => {
    await call('POST', '/v1/view', { name: name.trim(), page, query: viewQuery(location.search) });
    tell('Saved for everybody in the organization');
    onSaved();
    onClose();
  };
  return (
    <Dialog title="Save this view" onClose={onClose}>
      <Form verb="Save" onSubmit={save}>
        <Field
          label="Name"
          hint="The view keeps query, range, order and columns. Everybody in the organization sees it."
          control={(attributes) => (
            <input
              {...attributes}
              type="text"
              required
              maxLength={100}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        />
      </Form>
    </Dialog>
  );
}

type ListProps = {
  views: Resource<ViewJson[]>;
  page: string;
  close: () => void;
  onDelete: (view: ViewJson) => void;
};

function List({ views: { data, failure, reload }, page, close, onDelete }: ListProps) {
  if (data === null) return <FailureNotice failure={failure} retry={reload} />;
  if (data.length === 0) return <p class="muted">No view is saved yet.</p>;
  return (
    <ul class="views">
      {data.map((view) => (
        <li key={view.id}>
          <a href={`${page}?${view.query}`} onClick={close}>
            <Hostile text={view.name} />
          </a>
          {may('write') && (
            <button
              type="button"
              class="quiet"
              aria-label={`Delete the view ${view.name}`}
              onClick={() => onDelete(view)}
            >
              ✕
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

export type ViewsPanelProps = {
  views: Resource<ViewJson[]>;
  close: () => void;
  onSave: () => void;
  onDelete: (view: ViewJson) => void;
};

/** What the menu shows. */
export function ViewsPanel({ views, close, onSave, onDelete }: ViewsPanelProps) {
  const { path } = useAddress();
  return (
    <>
      <List views={views} page={path} close={close} onDelete={onDelete} />
      {may('write') && (
        <button type="button" onClick={onSave}>
          Save this view…
        </button>
      )}
    </>
  );
}

export type ViewDialogProps = {
  page: ViewPage;
  /** The view to delete; null: a new one is saved. */
  doomed: ViewJson | null;
  onClose: () => void;
  onChanged: () => void;
};

/** What the menu asks for. It stands outside of the menu, which closes when a dialog opens. */
export function ViewDialog({ page, doomed, onClose, onChanged }: ViewDialogProps) {
  if (doomed === null) return <SaveDialog page={page} onClose={onClose} onSaved={onChanged} />;
  return (
    <Confirm
      title="Delete this view?"
      text={
        <>
          <Hostile text={doomed.name} /> goes for everybody in the organization.
        </>
      }
      verb="Delete"
      run={async () => {
        await call('DELETE', `/v1/view/${encodeURIComponent(doomed.id)}`);
        onChanged();
      }}
      onClose={onClose}
    />
  );
}
