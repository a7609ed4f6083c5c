/** The page /prompts/:id: a prompt, its versions, and what can be done with them. */
import { useState } from 'preact/hooks';
import type { PromptJson, PromptVersionJson, VersionEnvironmentBody } from '#core/contracts/prompt.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { CopyButton } from '../../parts/copy/copy.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { loadVersion, useVersionPages, versionName, type WholeVersion } from '../../parts/prompts/load.ts';
import { RangePicker } from '../../parts/range/range-picker.tsx';
import { MoreButton } from '../../parts/table/more-button.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href, useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { useRange } from '../../state/range.ts';
import { NewVersionDialog, PromoteDialog, SettingsDialog } from './dialogs.tsx';
import { TryInputs } from './try-inputs.tsx';
import { loadVersionUses } from './uses.ts';
import { VersionBody, VersionDiff } from './version-body.tsx';
import { VersionTable } from './version-table.tsx';

type Action = 'promote' | 'edit' | 'delete-version';

function useVersion(id: string | null) {
  return useResource(id === null ? null : `prompt version ${id}`, (signal) => loadVersion(id!, signal));
}

type VersionProps = {
  version: WholeVersion;
  onChanged: () => void;
  onShow: (id: string | null) => void;
  onDeleted: (id: string) => void;
};

function Actions({ version, onChanged, onShow, onDeleted }: VersionProps) {
  const [action, setAction] = useState<Action | null>(null);
  const close = () => setAction(null);
  const playground = href('/playground', {
    'column.1.prompt': version.prompt_id,
    'column.1.version': version.id,
  });
  const remove = async () => {
    await call(
      'DELETE',
      `/v1/prompt-2025/${encodeURIComponent(version.prompt_id)}/${encodeURIComponent(version.id)}`,
    );
    onDeleted(version.id);
  };
  return (
    <div class="form-actions">
      <a class="button" href={playground}>
        Open in the playground
      </a>
      {may('write') && (
        <>
          <button type="button" onClick={() => setAction('promote')}>
            Promote…
          </button>
          <button type="button" onClick={() => setAction('edit')}>
            New version from this
          </button>
          <button type="button" class="danger" onClick={() => setAction('delete-version')}>
            Delete version
          </button>
        </>
      )}
      {action === 'promote' && <PromoteDialog version={version} onClose={close} onDone={onChanged} />}
      {action === 'edit' && (
        <NewVersionDialog
          version={version}
          onClose={close}
          onSaved={(id) => {
            onShow(id);
            onChanged();
          }}
        />
      )}
      {action === 'delete-version' && (
        <Confirm
          title={`Delete version ${versionName(version)}?`}
          text="Its body is erased, and calls that name it fail from then on."
          verb="Delete version"
          run={remove}
          onClose={close}
        />
      )}
    </div>
  );
}

function Shown({ baseId, ...props }: VersionProps & { baseId: string | null }) {
  const { version } = props;
  const { data: base, dataKey, failure, reload } = useVersion(baseId);
  const isReady = baseId !== null && base !== null && dataKey === `prompt version ${baseId}`;
  return (
    <section class="prompt-version" aria-label={`Version ${versionName(version)}`}>
      <div class="page-head">
        <h2>
          Version {versionName(version)}
          {isReady && ` compared with ${versionName(base)}`}
        </h2>
        <Actions {...props} />
      </div>
      <FailureNotice failure={failure} retry={reload} />
      {isReady ? <VersionDiff before={base} after={version} /> : <VersionBody version={version} />}
    </section>
  );
}

function Head({ prompt, onChanged }: { prompt: PromptJson | null; onChanged: () => void }) {
  const { go } = useAddress();
  const [open, setOpen] = useState<'settings' | 'delete' | null>(null);
  const close = () => setOpen(null);
  return (
    <div class="page-head">
      <h1>{prompt === null ? 'Prompt' : <Hostile text={prompt.name} />}</h1>
      {prompt?.tags.map((tag) => (
        <a key={tag} class="chip text-chip" href={href('/prompts', { tag })}>
          <Hostile text={tag} />
        </a>
      ))}
      <RangePicker />
      {prompt !== null && may('write') && (
        <>
          <button type="button" onClick={() => setOpen('settings')}>
            Settings
          </button>
          <button type="button" class="danger" onClick={() => setOpen('delete')}>
            Delete prompt
          </button>
        </>
      )}
      {open === 'settings' && prompt !== null && (
        <SettingsDialog prompt={prompt} onClose={close} onChanged={onChanged} />
      )}
      {open === 'delete' && prompt !== null && (
        <Confirm
          title="Delete this prompt?"
          text="All its versions are erased, and calls that name it fail from then on."
          verb="Delete prompt"
          run={async () => {
            await call('DELETE', `/v1/prompt-2025/${encodeURIComponent(prompt.id)}`);
            go('/prompts');
          }}
          onClose={close}
        />
      )}
    </div>
  );
}

function Versions({
  id,
  versions,
  ...list
}: {
  id: string;
  versions: readonly PromptVersionJson[];
  more: (() => void) | null;
  isLoading: boolean;
  reload: () => void;
}) {
  const { query, set } = useAddress();
  const { from, to, name: range } = useRange();
  const shownId = query.version ?? versions[0]?.id ?? null;
  const baseId = query.with ?? null;
  const uses = useResource(`version uses ${id} ${from} ${to}`, (signal) =>
    loadVersionUses(id, { from, to }, signal),
  );
  const [removed, setRemoved] = useState<VersionEnvironmentBody | null>(null);
  const shown = useVersion(shownId);
  const show = (version: string | null) =>
    set({ version, with: version === baseId ? null : baseId }, { replace: true });
  // Another one is shown at once: the deleted one is still in the list until that has come again.
  const deleted = (gone: string) => {
    show(versions.find((one) => one.id !== gone)?.id ?? null);
    list.reload();
  };
  const changed = () => {
    list.reload();
    shown.reload();
  };
  return (
    <>
      <FailureNotice failure={uses.failure} retry={uses.reload} />
      <VersionTable
        promptId={id}
        versions={versions}
        uses={uses.data}
        range={range}
        isLoading={list.isLoading}
        shown={shownId}
        base={baseId}
        onShow={show}
        onCompare={(next) => set({ with: next }, { replace: true })}
        onRemove={setRemoved}
      />
      <MoreButton more={list.more} />
      {removed !== null && (
        <Confirm
          title={`Remove the environment ${removed.environment}?`}
          text="It names no version then, and calls that name it fail from then on."
          verb="Remove"
          run={async () => {
            await call('POST', '/v1/prompt-2025/remove/environment', removed);
            changed();
          }}
          onClose={() => setRemoved(null)}
        />
      )}
      <FailureNotice failure={shown.failure} retry={shown.reload} />
      {shown.data !== null && (
        <>
          <Shown version={shown.data} baseId={baseId} onChanged={changed} onShow={show} onDeleted={deleted} />
          <TryInputs version={shown.data} versions={versions} />
        </>
      )}
    </>
  );
}

/** The page. */
export function PromptPage({ id }: { id: string }) {
  const prompt = useResource(`prompt ${id}`, (signal) =>
    call<PromptJson>('GET', `/v1/prompt-2025/id/${encodeURIComponent(id)}`, undefined, signal),
  );
  const versions = useVersionPages(id);
  return (
    <div class="prompt">
      <p>
        <a href="/prompts">All prompts</a>
      </p>
      <Head prompt={prompt.data} onChanged={prompt.reload} />
      <p class="muted">
        <code>
          <Hostile text={id} />
        </code>{' '}
        <CopyButton text={id} what="prompt id" />
      </p>
      <FailureNotice failure={prompt.failure} retry={prompt.reload} />
      {prompt.failure === null && (
        <>
          <FailureNotice failure={versions.failure} retry={versions.reload} />
          <Versions
            id={id}
            versions={versions.rows}
            more={versions.more}
            isLoading={versions.isLoading}
            reload={versions.reload}
          />
        </>
      )}
    </div>
  );
}
