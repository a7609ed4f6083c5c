/** A field for code. Tab indents; Escape and then Tab leaves the field, as a screen reader is told. */
import type { JSX, TargetedKeyboardEvent } from 'preact';
import { useRef } from 'preact/hooks';
import { indent } from './indent.ts';

export type CodeAreaProps = {
  value: string;
  onChange: (value: string) => void;
  rows: number;
  /** Of the field around it. */
  attributes: Pick<JSX.IntrinsicElements['textarea'], 'id' | 'aria-describedby' | 'aria-invalid'>;
};

/** Shows the field. */
export function CodeArea({ value, onChange, rows, attributes }: CodeAreaProps) {
  /** Escape was pressed: the next Tab is the browser's. */
  const isLeaving = useRef(false);
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    const { key, shiftKey, ctrlKey, altKey, metaKey, currentTarget: area } = event;
    if (key === 'Shift') return;
    const wasLeaving = isLeaving.current;
    isLeaving.current = key === 'Escape';
    if (key !== 'Tab' || wasLeaving || ctrlKey || altKey || metaKey) return;
    event.preventDefault();
    const selection = { start: area.selectionStart, end: area.selectionEnd, isBack: shiftKey };
    const next = indent(area.value, selection);
    area.value = next.text;
    area.setSelectionRange(next.start, next.end);
    onChange(next.text);
  };
  return (
    <textarea
      {...attributes}
      class="mono code-area"
      rows={rows}
      spellcheck={false}
      autoCapitalize="off"
      wrap="off"
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  );
}
