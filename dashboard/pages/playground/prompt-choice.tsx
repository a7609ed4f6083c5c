/** The version of a stored prompt that a column calls, with its inputs. */
import type { PromptVariableJson, PromptVersionJson } from '#core/contracts/prompt.ts';
import { HiddenMarks } from '../../parts/draft/hidden-marks.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Chooser } from '../../parts/form/chooser.tsx';
import { Select } from '../../parts/form/select.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { PROMPTS, useVersions, versionName } from '../../parts/prompts/load.ts';
import type { PromptChoice } from './draft.ts';

const HINTS: Readonly<Record<string, string>> = {
  number: 'A number',
  boolean: 'true or false',
  json: 'JSON',
};

function nameOf(version: PromptVersionJson): string {
  const { environments, commit_message: message } = version;
  return [versionName(version), environments.join(', '), message.slice(0, 60)].filter(Boolean).join(' · ');
}

function Inputs({
  variables,
  prompt,
  onChange,
}: {
  variables: readonly PromptVariableJson[];
  prompt: PromptChoice;
  onChange: (prompt: PromptChoice) => void;
}) {
  return variables.map(({ name, type }) => {
    const value = prompt.inputs[name] ?? '';
    return (
      <div key={name}>
        <TextField
          label={name}
          lines={2}
          isMono={type === 'json'}
          value={value}
          hint={HINTS[type ?? '']}
          onInput={(text) => onChange({ ...prompt, inputs: { ...prompt.inputs, [name]: text } })}
        />
        <HiddenMarks text={value} />
      </div>
    );
  });
}

/** Chooses a prompt, a version of it, and its inputs. */
export function PromptFields({
  prompt,
  onChange,
}: {
  prompt: PromptChoice | null;
  onChange: (prompt: PromptChoice | null) => void;
}) {
  const promptId = prompt?.promptId ?? '';
  const versions = useVersions(prompt?.promptId ?? null);
  const list = versions.data ?? [];
  const version = list.find(({ id }) => id === prompt?.versionId);
  const named = list.map((one) => ({ name: one.id, label: nameOf(one) }));
  return (
    <div class="form">
      <FailureNotice failure={versions.failure} retry={versions.reload} />
      <Chooser
        label="Prompt"
        choices={PROMPTS}
        none="None"
        value={promptId}
        onChange={(id) =>
          onChange(id === '' ? null : { promptId: id, versionId: '', inputs: prompt?.inputs ?? {} })
        }
      />
      {prompt !== null && (
        <>
          <Select
            label="Version"
            options={[{ name: '', label: 'Choose a version' }, ...named]}
            value={prompt.versionId}
            onChange={(versionId) => onChange({ ...prompt, versionId })}
          />
          <Inputs variables={version?.variables ?? []} prompt={prompt} onChange={onChange} />
          <p class="muted">The prompt's messages come before those of the page.</p>
        </>
      )}
    </div>
  );
}
