/** Dialogs that change a prompt: its name and tags, promote, a new version. */
import { useState } from 'preact/hooks';
import type {
  PromptJson,
  PromptUpdateBody,
  PromptVersionJson,
  VersionEnvironmentBody,
} from '#core/contracts/prompt.ts';
import type { JsonObject } from '#core/json-values/mod.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Form } from '../../parts/form/form.tsx';
import { readList } from '../../parts/form/lists.ts';
import { TextField } from '../../parts/form/text-field.tsx';
import { BodyDialog } from '../../parts/prompts/body-dialog.tsx';
import { versionName, type WholeVersion } from '../../parts/prompts/load.ts';
import { tell } from '../../parts/toast/toast.tsx';

const ENVIRONMENTS = 'prompt-environments';

/** Changes the name and the tags. */
export function SettingsDialog({
  prompt,
  onClose,
  onChanged,
}: {
  prompt: PromptJson;
  onClose: () => void;
  onChanged: () => void;
}) {
  const [name, setName] = useState(prompt.name);
  const before = prompt.tags.join(', ');
  const [tags, setTags] = useState(before);
  const path = `/v1/prompt-2025/id/${encodeURIComponent(prompt.id)}`;
  const save = async () => {
    if (name !== prompt.name) await call('POST', `${path}/rename`, { name });
    if (tags !== before) await call('PATCH', `${path}/tags`, { tags: readList(tags) ?? [] });
    onChanged();
    onClose();
  };
  return (
    <Dialog title="Change the prompt" onClose={onClose}>
      <Form verb="Save" onSubmit={save}>
        <TextField label="Name" value={name} onInput={setName} />
        <TextField label="Tags" value={tags} onInput={setTags} hint="Separated by commas" />
      </Form>
    </Dialog>
  );
}

/** Asks for an environment, which names the version from then on. */
export function PromoteDialog({
  version,
  onClose,
  onDone,
}: {
  version: PromptVersionJson;
  onClose: () => void;
  onDone: () => void;
}) {
  const [environment, setEnvironment] = useState('production');
  const { data } = useResource('prompt environments', (signal) =>
    call<string[]>('GET', '/v1/prompt-2025/environments', undefined, signal),
  );
  const promote = async () => {
    const { prompt_id: promptId, id: promptVersionId } = version;
    const body: VersionEnvironmentBody = { promptId, promptVersionId, environment };
    await call('POST', '/v1/prompt-2025/update/environment', body);
    tell(`Version ${versionName(version)} is ${environment}`);
    onDone();
    onClose();
  };
  return (
    <Dialog title={`Promote version ${versionName(version)}`} onClose={onClose}>
      <Form verb="Promote" onSubmit={promote}>
        <datalist id={ENVIRONMENTS}>
          {data?.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <TextField
          label="Environment"
          value={environment}
          list={ENVIRONMENTS}
          hint="Gateways use the version within a second"
          onInput={setEnvironment}
        />
      </Form>
    </Dialog>
  );
}

/** Edits a version into the next one. */
export function NewVersionDialog({
  version,
  onClose,
  onSaved,
}: {
  version: WholeVersion;
  onClose: () => void;
  onSaved: (id: string) => void;
}) {
  const [commitMessage, setMessage] = useState('');
  const [newMajorVersion, setMajor] = useState(false);
  const save = async (promptBody: JsonObject) => {
    const update: PromptUpdateBody = {
      promptId: version.prompt_id,
      promptVersionId: version.id,
      newMajorVersion,
      commitMessage,
      promptBody,
    };
    const { id } = await call<{ id: string }>('POST', '/v1/prompt-2025/update', update);
    tell('The version is saved');
    onSaved(id);
  };
  return (
    <BodyDialog
      title={`New version after ${versionName(version)}`}
      verb="Save version"
      body={version.prompt_body}
      onSubmit={save}
      onClose={onClose}
    >
      <TextField label="What changed" value={commitMessage} onInput={setMessage} />
      <label>
        <input type="checkbox" checked={newMajorVersion} onChange={() => setMajor(!newMajorVersion)} /> New
        major version
      </label>
    </BodyDialog>
  );
}
