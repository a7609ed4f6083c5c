/** The target of an experiment: a model, a prompt, the same calls again, or the log. */
import type { PromptVersionJson } from '#core/contracts/prompt.ts';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { Chooser } from '../../../parts/form/chooser.tsx';
import { type Option, Select } from '../../../parts/form/select.tsx';
import { TextField } from '../../../parts/form/text-field.tsx';
import { PROMPTS, useVersions, versionName } from '../../../parts/prompts/load.ts';
import { MODELS, useModels } from '../../playground/models.tsx';
import { type Fields, type Kind, membersFault } from './fields.ts';

export type FieldsProps = { fields: Fields; change: (changes: Partial<Fields>) => void };

const KINDS: readonly (Option & { name: Kind; hint: string })[] = [
  { name: 'model', label: 'Another model', hint: "Each item's request, with this model." },
  { name: 'prompt', label: 'A stored prompt', hint: 'Filled with the inputs of each item.' },
  { name: 'replay', label: 'The same requests again', hint: "Each item's request as it is." },
  {
    name: 'recorded',
    label: 'The recorded answers',
    hint: 'Of items that were made from logged requests: nothing is called, and nothing costs.',
  },
];

function Model({ fields, change, isOptional }: FieldsProps & { isOptional: boolean }) {
  const { list, priceOf, failure } = useModels();
  return (
    <>
      {list}
      <FailureNotice failure={failure} />
      <TextField
        label="Model"
        isMono
        isRequired={!isOptional}
        list={MODELS}
        value={fields.model}
        onInput={(model) => change({ model })}
        hint={priceOf(fields.model) ?? (isOptional ? "Empty: the prompt's own" : 'As in a call')}
      />
    </>
  );
}

function Members({ fields, change, label, hint }: FieldsProps & { label: string; hint: string }) {
  return (
    <TextField
      label={label}
      isMono
      lines={3}
      placeholder='{"temperature": 0}'
      value={fields.members}
      onInput={(members) => change({ members })}
      hint={hint}
      fault={membersFault(fields.members)}
    />
  );
}

/** Environments first: they go on naming what is in use. */
function versionOptions(versions: readonly PromptVersionJson[]): Option[] {
  const environments = versions.flatMap((version) =>
    version.environments.map((name) => ({
      name: `environment ${name}`,
      label: `${name}, now version ${versionName(version)}`,
    })),
  );
  const named = versions.map((version) => ({
    name: `version ${version.id}`,
    label: `Version ${versionName(version)}`,
  }));
  return [{ name: '', label: 'Choose a version' }, ...environments, ...named];
}

function Prompt({ fields, change }: FieldsProps) {
  const versions = useVersions(fields.promptId === '' ? null : fields.promptId);
  return (
    <>
      <FailureNotice failure={versions.failure} retry={versions.reload} />
      <div class="field-row">
        <Chooser
          label="Prompt"
          choices={PROMPTS}
          none="Choose a prompt"
          value={fields.promptId}
          onChange={(promptId) => change({ promptId, promptVersion: '' })}
        />
        <Select
          label="Version of the prompt"
          options={versionOptions(versions.data ?? [])}
          value={fields.promptVersion}
          onChange={(promptVersion) => change({ promptVersion })}
        />
      </div>
      <Model fields={fields} change={change} isOptional />
    </>
  );
}

/** Shows the choice, and the fields of what is chosen. */
export function TargetFields({ fields, change }: FieldsProps) {
  const { kind } = fields;
  return (
    <>
      <Select
        label="Target"
        options={KINDS}
        value={kind}
        onChange={(name) => change({ kind: name as Kind })}
        hint={KINDS.find(({ name }) => name === kind)?.hint}
      />
      {kind === 'model' && (
        <>
          <Model fields={fields} change={change} isOptional={false} />
          <Members
            fields={fields}
            change={change}
            label="Parameters (JSON)"
            hint="In place of the item's own. Empty: none."
          />
        </>
      )}
      {kind === 'prompt' && <Prompt fields={fields} change={change} />}
      {kind === 'replay' && (
        <Members
          fields={fields}
          change={change}
          label="Overrides (JSON)"
          hint="In place of the item's own; null removes one. Empty: none."
        />
      )}
    </>
  );
}
