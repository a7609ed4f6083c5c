/** Messages that can be edited: their roles, texts and order. */
import { useState } from 'preact/hooks';
import { Hostile } from '../text/hostile.tsx';
import { HiddenMarks } from './hidden-marks.tsx';
import { type Dialect, type DraftMessage, type DraftPart, newMessage, ROLES } from './messages.ts';

/** Messages that are shown at once: the newest ones. */
const MOST_SHOWN = 30;

type PartProps = { part: DraftPart; name: string; onChange: (part: DraftPart) => void };

function PartEditor({ part, name, onChange }: PartProps) {
  if (part.kind === 'kept')
    return (
      <p>
        <span class="chip text-chip">
          <Hostile text={part.label} />
        </span>{' '}
        <span class="muted">is sent as it is</span>
      </p>
    );
  const isJson = part.kind === 'json';
  return (
    <>
      <textarea
        class={isJson ? 'draft-text mono' : 'draft-text'}
        aria-label={isJson ? `${name}, JSON` : name}
        dir={isJson ? 'ltr' : 'auto'}
        rows={2}
        spellcheck={false}
        value={part.text}
        onInput={({ currentTarget: { value } }) => onChange({ ...part, text: value })}
      />
      <HiddenMarks text={part.text} />
    </>
  );
}

type OneProps = {
  message: DraftMessage;
  index: number;
  count: number;
  roles: readonly string[];
  onChange: (message: DraftMessage) => void;
  onMove: (step: number) => void;
  onRemove: () => void;
};

function RoleChoice({
  message,
  name,
  roles,
  onChange,
}: Pick<OneProps, 'message' | 'roles' | 'onChange'> & { name: string }) {
  if (message.role === '') return <strong>Item</strong>;
  const all = [...new Set([...roles, message.role])];
  return (
    <select
      aria-label={`Role of ${name}`}
      value={message.role}
      onChange={({ currentTarget: { value } }) => onChange({ ...message, role: value })}
    >
      {all.map((role) => (
        <option key={role} value={role}>
          {role}
        </option>
      ))}
    </select>
  );
}

function Others({ message, name, onChange }: Pick<OneProps, 'message' | 'onChange'> & { name: string }) {
  if (message.others === '') return null;
  return (
    <details class="draft-others" open>
      <summary class="muted">{message.role === '' ? 'JSON' : 'Other fields'}</summary>
      <textarea
        class="draft-text mono"
        aria-label={`Other fields of ${name}, JSON`}
        rows={3}
        spellcheck={false}
        value={message.others}
        onInput={({ currentTarget: { value } }) => onChange({ ...message, others: value })}
      />
    </details>
  );
}

function MessageEditor({ message, index, count, roles, onChange, onMove, onRemove }: OneProps) {
  const name = `message ${index + 1}`;
  return (
    <li class="draft-message card">
      <div class="draft-head">
        <RoleChoice message={message} name={name} roles={roles} onChange={onChange} />
        <span class="draft-tools">
          <button
            type="button"
            class="quiet"
            aria-label={`Move ${name} up`}
            disabled={index === 0}
            onClick={() => onMove(-1)}
          >
            ↑
          </button>
          <button
            type="button"
            class="quiet"
            aria-label={`Move ${name} down`}
            disabled={index === count - 1}
            onClick={() => onMove(1)}
          >
            ↓
          </button>
          <button type="button" class="quiet" aria-label={`Remove ${name}`} onClick={onRemove}>
            ✕
          </button>
        </span>
      </div>
      {message.parts.map((part, place) => (
        <PartEditor
          key={place}
          part={part}
          name={`Text of ${name}`}
          onChange={(next) => onChange({ ...message, parts: message.parts.with(place, next) })}
        />
      ))}
      <Others message={message} name={name} onChange={onChange} />
    </li>
  );
}

export type MessageEditorsProps = {
  dialect: Dialect;
  messages: readonly DraftMessage[];
  onChange: (messages: readonly DraftMessage[]) => void;
};

function moved(messages: readonly DraftMessage[], from: number, step: number): DraftMessage[] {
  const next = [...messages];
  const [one] = next.splice(from, 1);
  next.splice(from + step, 0, one!);
  return next;
}

/** Edits messages. Of a long conversation, the newest ones are shown until all are asked for. */
export function MessageEditors({ dialect, messages, onChange }: MessageEditorsProps) {
  const [isWhole, setWhole] = useState(false);
  const hidden = isWhole ? 0 : Math.max(0, messages.length - MOST_SHOWN);
  const last = messages.at(-1)?.role;
  return (
    <div class="draft">
      {hidden > 0 && (
        <button type="button" onClick={() => setWhole(true)}>
          Show {hidden} earlier messages
        </button>
      )}
      <ol class="draft-messages" start={hidden + 1}>
        {messages.slice(hidden).map((message, place) => {
          const index = hidden + place;
          return (
            <MessageEditor
              key={message.key}
              message={message}
              index={index}
              count={messages.length}
              roles={ROLES[dialect]}
              onChange={(next) => onChange(messages.with(index, next))}
              onMove={(step) => onChange(moved(messages, index, step))}
              onRemove={() => onChange(messages.toSpliced(index, 1))}
            />
          );
        })}
      </ol>
      <button
        type="button"
        class="draft-add"
        onClick={() => onChange([...messages, newMessage(last === 'user' ? 'assistant' : 'user')])}
      >
        Add message
      </button>
    </div>
  );
}
