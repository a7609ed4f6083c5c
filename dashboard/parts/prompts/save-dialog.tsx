/** Saves a body as a new prompt, or as a new version of one. */
import { useState } from 'preact/hooks';
import type { NewPromptBody, PromptUpdateBody } from '#core/contracts/prompt.ts';
import { call } from '../../client/call.ts';
import { Dialog } from '../dialog/dialog.tsx';
import { Chooser } from '../form/chooser.tsx';
import { Form } from '../form/form.tsx';
import { TextField } from '../form/text-field.tsx';
import { tell } from '../toast/toast.tsx';
import { PROMPTS, useVersions, versionName } from './load.ts';

/** Ids of a version and of its prompt. */
export type VersionPlace = { promptId: string; versionId: string };

/** Where an answer has the ids of what was saved. */
type Saved = { id: string; versionId?: string };

export type SaveDialogProps = {
  /** Returns the body. @throws Error that says what is not valid */
  body: () => Promise<Record<string, unknown>>;
  /** The version that the new one follows; null: none is chosen yet. */
  base: VersionPlace | null;
  onClose: () => void;
  onSaved: (place: VersionPlace) => void;
};

const NEW = '';

/** Asks for a name or a message, and saves. */
export function SaveDialog({ body, base, onClose, onSaved }: SaveDialogProps) {
  const [promptId, setPromptId] = useState(base?.promptId ?? NEW);
  const [name, setName] = useState('');
  const [message, setMessage] = useState('');
  const [isMajor, setMajor] = useState(false);
  const versions = useVersions(promptId === NEW ? null : promptId);
  const newest = promptId === base?.promptId ? base.versionId : versions.data?.[0]?.id;
  const follows = versions.data?.find(({ id }) => id === newest);

  const save = async () => {
    const promptBody = await body();
    if (promptId === NEW) {
      const created = await call<Saved>('POST', '/v1/prompt-2025', {
        name,
        promptBody,
      } satisfies NewPromptBody);
      tell('The prompt is saved');
      onSaved({ promptId: created.id, versionId: created.versionId! });
    } else {
      if (newest === undefined) throw new Error('The versions of the prompt are not loaded yet');
      const update = {
        promptId,
        promptVersionId: newest,
        newMajorVersion: isMajor,
        commitMessage: message,
        promptBody,
      };
      const { id } = await call<Saved>('POST', '/v1/prompt-2025/update', update satisfies PromptUpdateBody);
      tell('The version is saved');
      onSaved({ promptId, versionId: id });
    }
    onClose();
  };
  return (
    <Dialog title="Save as a prompt version" onClose={onClose}>
      <Form verb="Save" onSubmit={save}>
        <Chooser
          label="Prompt"
          choices={PROMPTS}
          none="A new prompt"
          value={promptId}
          onChange={setPromptId}
        />
        {promptId === NEW ? (
          <TextField label="Name" value={name} onInput={setName} />
        ) : (
          <>
            <TextField
              label="What changed"
              value={message}
              onInput={setMessage}
              hint={follows === undefined ? undefined : `Follows version ${versionName(follows)}`}
            />
            <label>
              <input type="checkbox" checked={isMajor} onChange={() => setMajor(!isMajor)} /> New major
              version
            </label>
          </>
        )}
      </Form>
    </Dialog>
  );
}
