/** The query of a page: a field with colours, completion and history, and its conditions as chips below. */
import { useId, useState } from 'preact/hooks';
import { useKeys } from '../../state/keys.ts';
import { identity } from '../../state/me.ts';
import { useLater } from '../later/use-later.ts';
import { Chips } from './chips.tsx';
import type { CompleteValues } from './complete-values.ts';
import { pastedId } from './field-text.ts';
import { optionId } from './option-id.ts';
import { Overlay } from './overlay.tsx';
import { faultSentence } from './use-fault.ts';
import { type QueryField, useQueryField } from './use-query-field.ts';

export type QueryBarProps = {
  /** The query that is asked: of the address. */
  value: string;
  /** Receives a query without a mistake. */
  onCommit: (q: string) => void;
  /** As `facetValues` returns them. */
  completeValues: CompleteValues;
  /** Loads names of properties and scores, without quotation marks: `property.Plan`, `scores.helpful`. */
  loadNames?: (() => Promise<readonly string[]>) | undefined;
  /** Receives a request's id that is pasted into the empty field. */
  onOpenId?: (id: string) => void;
};

/** Enter asks, Shift+Enter begins a new line, `/` leads here from anywhere. */
export function QueryBar({ value, onCommit, completeValues, loadNames, onOpenId }: QueryBarProps) {
  const { value: now } = identity;
  const organizationId = now.kind === 'signed-in' ? now.me.organization.id : '';
  const state = useQueryField({ value, onCommit, completeValues, loadNames, organizationId });
  const { field, text, explained, isFaultShown, isChanged, commit } = state;
  const faultId = useId();
  useKeys('Query', { '/': { what: 'Write a query', run: () => field.current?.focus() } });
  const edit = (from: number, to: number) => {
    field.current?.focus();
    field.current?.setSelectionRange(from, to);
    state.onMove();
  };
  return (
    <search class="query-bar">
      <div class={isFaultShown ? 'query-bar-frame query-bar-wrong' : 'query-bar-frame'}>
        <div class="query-bar-box">
          <Overlay explained={explained} isFaultShown={isFaultShown} />
          <Field state={state} faultId={faultId} onOpenId={onOpenId} />
        </div>
        {isChanged && (
          <button type="button" class="quiet" onClick={() => commit(text)}>
            Ask <kbd>↵</kbd>
          </button>
        )}
        {text !== '' && !isChanged && (
          <button type="button" class="quiet" aria-label="Clear the query" onClick={() => commit('')}>
            ✕
          </button>
        )}
        <HelpButton />
      </div>
      <p id={faultId} class="query-bar-sentence bad" role="alert" hidden={!isFaultShown}>
        {isFaultShown && faultSentence(explained, text)}
      </p>
      {explained.scansBodies && (
        <p class="query-bar-sentence muted">
          Searches the text of bodies in this range: a short one is quicker
        </p>
      )}
      {!isChanged && <Chips q={value} onChange={commit} onEdit={edit} />}
    </search>
  );
}

type FieldProps = { state: QueryField; faultId: string; onOpenId: QueryBarProps['onOpenId'] };

function Field({ state, faultId, onOpenId }: FieldProps) {
  const { field, text, options, chosen, isFaultShown } = state;
  const listId = useId();
  const OptionList = useLater(loadOptionList, options.length > 0);
  const onPaste = (event: ClipboardEvent) => {
    const id = pastedId(event.clipboardData?.getData('text') ?? '');
    if (id === null || onOpenId === undefined || text !== '') return;
    event.preventDefault();
    onOpenId(id);
  };
  return (
    <>
      <textarea
        ref={field}
        class="query-bar-field"
        rows={1}
        aria-label="Query"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={options.length > 0 ? listId : undefined}
        aria-activedescendant={chosen === -1 ? undefined : optionId(listId, chosen)}
        aria-invalid={isFaultShown}
        aria-describedby={isFaultShown ? faultId : undefined}
        placeholder="Search: status:>=500 model:gpt-4o* -user:bot"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        value={text}
        onInput={state.onInput}
        onClick={() => {
          state.onMove();
          state.openList();
        }}
        onKeyUp={state.onMove}
        onFocus={state.onFocus}
        onBlur={state.onBlur}
        onKeyDown={state.onKeyDown}
        onPaste={onPaste}
      />
      {OptionList !== null && (
        <OptionList id={listId} options={options} chosen={chosen} onTake={state.take} />
      )}
      <span class="unseen" role="status">
        {options.length > 0 && `${options.length} can stand here`}
      </span>
    </>
  );
}

const loadOptionList = () => import('../later/asked.ts').then(({ OptionList }) => OptionList);
const loadHelp = () => import('../later/asked.ts').then(({ QueryHelp }) => QueryHelp);

function HelpButton() {
  const [isOpen, setOpen] = useState(false);
  const Help = useLater(loadHelp, isOpen);
  return (
    <>
      <button type="button" class="quiet" aria-label="How to write queries" onClick={() => setOpen(true)}>
        ?
      </button>
      {Help !== null && <Help onClose={() => setOpen(false)} />}
    </>
  );
}
