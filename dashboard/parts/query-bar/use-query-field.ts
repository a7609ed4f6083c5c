/** The state of the field: the text that is being written, the list below it, the queries from before. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Option } from '#core/filter/query-text/completion/mod.ts';
import { type Explained, explain } from '#core/filter/query-text/mod.ts';
import { isOfInputMethod } from '../../state/keys.ts';
import type { CompleteValues } from './complete-values.ts';
import { replaceText, takeOption } from './field-text.ts';
import { keepQuery, pastQueries } from './history.ts';
import { useCompletion } from './use-completion.ts';
import { useFault } from './use-fault.ts';

export type QueryFieldProps = {
  /** The query that is asked. */
  value: string;
  onCommit: (q: string) => void;
  completeValues: CompleteValues;
  /** Loads names of properties and scores, when the field is used: `property.Plan`, `scores.helpful`. */
  loadNames: (() => Promise<readonly string[]>) | undefined;
  /** Whose history it is. */
  organizationId: string;
};

export type QueryField = {
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  explained: Explained;
  isFaultShown: boolean;
  /** Empty: there is no list. */
  options: readonly Option[];
  /** Index of an option; -1: none. */
  chosen: number;
  isChanged: boolean;
  take: (option: Option) => void;
  commit: (q: string) => void;
  onInput: () => void;
  /** The cursor may have moved. */
  onMove: () => void;
  onFocus: () => void;
  onBlur: () => void;
  openList: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
};

const NO_NAMES: readonly string[] = [];

/** Returns the state and what changes it. */
export function useQueryField(props: QueryFieldProps): QueryField {
  const { value, onCommit, completeValues, loadNames, organizationId } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(value);
  const [cursor, setCursor] = useState<number>(value.length);
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const [names, setNames] = useState<readonly string[]>(NO_NAMES);
  /** Index into the past queries; null: none of them is shown. */
  const past = useRef<number | null>(null);
  // Before the paint: later it would overwrite what was typed since.
  useLayoutEffect(() => {
    setText(value);
    past.current = null;
  }, [value]);

  const explained = useMemo(() => explain(text), [text]);
  const fault = useFault(text, explained, cursor, value);
  const options = useCompletion({ text, at: isOpen ? cursor : null, names, completeValues });

  const readField = () => {
    const { value: now, selectionStart, selectionEnd } = field.current!;
    setText(now);
    setCursor(selectionEnd);
    if (selectionStart !== selectionEnd) close();
  };
  const close = () => {
    setOpen(false);
    setChosen(-1);
  };
  const commit = (q: string) => {
    close();
    const trimmed = q.trim();
    if (explain(trimmed).error !== null) return fault.show();
    keepQuery(organizationId, trimmed);
    past.current = null;
    setText(trimmed);
    onCommit(trimmed);
  };
  const take = (option: Option) => {
    setChosen(-1);
    takeOption(field.current!, option);
  };
  /** Shows an earlier query, or a later one. Returns whether there is one. */
  const recall = (step: 1 | -1): boolean => {
    const queries = pastQueries(organizationId).filter((q) => q !== value);
    const next = (past.current ?? -1) + step;
    if (next < -1 || next >= queries.length) return false;
    past.current = next === -1 ? null : next;
    replaceText(field.current!, 0, text.length, next === -1 ? value : queries[next]!);
    close();
    return true;
  };
  const move = (step: 1 | -1): boolean => {
    const isInHistory = past.current !== null;
    const mayRecall = isInHistory || ((text === '' || text === value) && chosen === -1 && step === -1);
    if (mayRecall) return recall(step === -1 ? 1 : -1);
    if (options.length > 0) {
      setChosen(((chosen + 1 + step + options.length + 1) % (options.length + 1)) - 1);
      return true;
    }
    if (step === 1 && !text.slice(cursor).includes('\n')) setOpen(true);
    return false;
  };

  return {
    field,
    text,
    explained,
    isFaultShown: fault.isShown,
    options,
    chosen,
    isChanged: text.trim() !== value.trim(),
    take,
    commit,
    onInput: () => {
      readField();
      setOpen(true);
      setChosen(-1);
    },
    onMove: readField,
    onFocus: () => {
      // Without them, the fields of the language are offered.
      if (names === NO_NAMES) loadNames?.().then(setNames, () => {});
    },
    onBlur: () => {
      close();
      if (explained.error !== null) fault.show();
    },
    openList: () => setOpen(true),
    onKeyDown: (event) => {
      if (isOfInputMethod(event)) return;
      const option = options[chosen];
      const isHandled = handleKey(event, {
        option,
        hasList: options.length > 0,
        take,
        move,
        close,
        commit: () => commit(text),
        leave: () => field.current?.blur(),
      });
      if (isHandled) event.preventDefault();
    },
  };
}

type Handlers = {
  option: Option | undefined;
  hasList: boolean;
  take: (option: Option) => void;
  move: (step: 1 | -1) => boolean;
  close: () => void;
  commit: () => void;
  leave: () => void;
};

/** Returns whether a key did something. */
function handleKey({ key, shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent, on: Handlers): boolean {
  if (altKey || metaKey) return false;
  if (ctrlKey && key !== 'Enter') return false;
  switch (key) {
    case 'ArrowDown':
    case 'ArrowUp':
      return !shiftKey && on.move(key === 'ArrowDown' ? 1 : -1);
    case 'Tab':
      if (shiftKey || on.option === undefined) return false;
      on.take(on.option);
      return true;
    case 'Enter':
      if (shiftKey) return false;
      if (on.option === undefined) on.commit();
      else on.take(on.option);
      return true;
    case 'Escape':
      if (on.hasList) on.close();
      else on.leave();
      return true;
    default:
      return false;
  }
}
