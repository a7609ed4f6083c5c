/** Creates a prompt. */
import { useState } from 'preact/hooks';
import type { NewPromptBody } from '#core/contracts/prompt.ts';
import type { JsonObject } from '#core/json-values/mod.ts';
import { call } from '../../client/call.ts';
import { readList } from '../../parts/form/lists.ts';
import { TextField } from '../../parts/form/text-field.tsx';
import { BodyDialog } from '../../parts/prompts/body-dialog.tsx';
import { useAddress } from '../../state/address.ts';

/** Goes to the prompt that it has created. */
export function CreateDialog({ onClose }: { onClose: () => void }) {
  const { go } = useAddress();
  const [name, setName] = useState('');
  const [tags, setTags] = useState('');
  const create = async (promptBody: JsonObject) => {
    const body = { name, tags: readList(tags) ?? [], promptBody };
    const { id } = await call<{ id: string }>('POST', '/v1/prompt-2025', body satisfies NewPromptBody);
    go(`/prompts/${encodeURIComponent(id)}`);
  };
  return (
    <BodyDialog title="New prompt" verb="Create prompt" body={{}} onSubmit={create} onClose={onClose}>
      <TextField label="Name" value={name} onInput={setName} />
      <TextField label="Tags" value={tags} onInput={setTags} hint="Separated by commas" />
    </BodyDialog>
  );
}
