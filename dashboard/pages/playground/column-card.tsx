/** A column: a model with its parameters, the prompt and messages of its own, its call and the answer. */
import { useState } from 'preact/hooks';
import { MessageEditors } from '../../parts/draft/message-editor.tsx';
import type { Dialect } from '../../parts/draft/messages.ts';
import { TextField } from '../../parts/form/text-field.tsx';
import { SaveDialog } from '../../parts/prompts/save-dialog.tsx';
import { may } from '../../state/me.ts';
import { Answer } from './answer.tsx';
import { type Column, type Draft, LABELS, PARAMETERS, type PromptChoice, type Talk } from './draft.ts';
import { MODELS } from './models.tsx';
import { PromptFields } from './prompt-choice.tsx';
import type { Run } from './run.ts';
import { savedBody } from './saved-body.ts';

type Change = (changes: Partial<Column>) => void;

function Parameters({ dialect, column, onChange }: { dialect: Dialect; column: Column; onChange: Change }) {
  const isSet = Object.values(column.parameters).some((text) => text !== '') || column.others !== '';
  return (
    <details class="playground-more" open={isSet}>
      <summary>Parameters</summary>
      <div class="playground-parameters">
        {PARAMETERS[dialect].map(([name]) => (
          <TextField
            key={name}
            label={LABELS[name]}
            value={column.parameters[name]}
            lines={name === 'responseFormat' ? 2 : 1}
            isMono={name === 'responseFormat'}
            onInput={(text) => onChange({ parameters: { ...column.parameters, [name]: text } })}
          />
        ))}
        <TextField
          label="Other parameters (JSON)"
          lines={2}
          isMono
          value={column.others}
          onInput={(others) => onChange({ others })}
        />
      </div>
    </details>
  );
}

/** Edits messages and tools. */
export function TalkFields({
  dialect,
  talk,
  onChange,
}: {
  dialect: Dialect;
  talk: Talk;
  onChange: (talk: Talk) => void;
}) {
  return (
    <>
      <MessageEditors
        dialect={dialect}
        messages={talk.messages}
        onChange={(messages) => onChange({ ...talk, messages })}
      />
      <details class="playground-more" open={talk.tools !== ''}>
        <summary>Tools</summary>
        <TextField
          label="Definitions (JSON)"
          lines={4}
          isMono
          value={talk.tools}
          onInput={(tools) => onChange({ ...talk, tools })}
        />
      </details>
    </>
  );
}

function OwnTalk({ draft, column, onChange }: { draft: Draft; column: Column; onChange: Change }) {
  const { own } = column;
  if (own === null)
    return (
      <button type="button" class="quiet" onClick={() => onChange({ own: draft.talk })}>
        Edit messages for this column alone
      </button>
    );
  return (
    <details class="playground-more" open>
      <summary>Messages of this column</summary>
      <button type="button" class="quiet" onClick={() => onChange({ own: null })}>
        Use the shared messages
      </button>
      <TalkFields dialect={draft.dialect} talk={own} onChange={(next) => onChange({ own: next })} />
    </details>
  );
}

export type ColumnCardProps = {
  draft: Draft;
  column: Column;
  index: number;
  run: Run | null;
  /** Why the column cannot be run as it is; null: it can. */
  fault: string | null;
  price: string | null;
  onChange: Change;
  onRun: () => void;
  onStop: () => void;
  /** Null: it is the only one. */
  onRemove: (() => void) | null;
};

function Actions({ draft, column, run, index, onChange, onRun, onStop }: ColumnCardProps) {
  const [isSaving, setSaving] = useState(false);
  const isRunning = run?.phase === 'running';
  const base = column.prompt === null || column.prompt.versionId === '' ? null : column.prompt;
  const choose = (prompt: Omit<PromptChoice, 'inputs'>) => {
    // What is saved holds the messages of the page, which would come twice.
    if (column.prompt !== null)
      onChange({ prompt: { ...column.prompt, ...prompt }, own: { messages: [], tools: '' } });
  };
  return (
    <div class="form-actions">
      {isRunning ? (
        <button type="button" class="danger" aria-label={`Stop column ${index + 1}`} onClick={onStop}>
          Stop
        </button>
      ) : (
        <button
          type="button"
          class="primary"
          disabled={!may('gateway')}
          aria-label={`Run column ${index + 1}`}
          onClick={onRun}
        >
          Run
        </button>
      )}
      {may('write') && (
        <button type="button" onClick={() => setSaving(true)}>
          Save as prompt…
        </button>
      )}
      {isSaving && (
        <SaveDialog
          body={() => savedBody(draft, column)}
          base={base}
          onClose={() => setSaving(false)}
          onSaved={choose}
        />
      )}
    </div>
  );
}

/** Shows a column. */
export function ColumnCard(props: ColumnCardProps) {
  const { draft, column, index, run, fault, price, onChange, onRemove } = props;
  return (
    <section class="playground-column card" aria-label={`Column ${index + 1}`}>
      <div class="playground-model">
        <TextField
          label="Model"
          value={column.model}
          list={MODELS}
          hint={column.prompt !== null && column.model === '' ? 'Empty: that of the prompt' : price}
          onInput={(model) => onChange({ model })}
        />
        {onRemove !== null && (
          <button type="button" class="quiet" aria-label={`Remove column ${index + 1}`} onClick={onRemove}>
            ✕
          </button>
        )}
      </div>
      <Parameters dialect={draft.dialect} column={column} onChange={onChange} />
      <details class="playground-more" open={column.prompt !== null}>
        <summary>Stored prompt</summary>
        <PromptFields prompt={column.prompt} onChange={(prompt) => onChange({ prompt })} />
      </details>
      <OwnTalk draft={draft} column={column} onChange={onChange} />
      {fault !== null && (
        <p class="bad" role="alert">
          {fault}
        </p>
      )}
      <Actions {...props} />
      {run !== null && <Answer run={run} />}
    </section>
  );
}
