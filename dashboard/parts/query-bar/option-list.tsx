/** What can stand at the cursor, below the field. */
import { useEffect, useRef } from 'preact/hooks';
import type { Option } from '#core/filter/query-text/completion/mod.ts';
import { Hostile } from '../text/hostile.tsx';
import { optionId } from './option-id.ts';

export type OptionListProps = {
  id: string;
  options: readonly Option[];
  /** -1: none. */
  chosen: number;
  onTake: (option: Option) => void;
};

/** The field keeps the focus: its arrows and Enter choose. */
export function OptionList({ id, options, chosen, onTake }: OptionListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <div ref={list} id={id} class="query-bar-options" role="listbox" aria-label="What can stand here">
      {options.map((option, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its arrows and Enter choose
        <div
          key={`${option.kind} ${option.insert}`}
          id={optionId(id, index)}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          // The field would lose the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(option)}
        >
          <span class={`query-bar-label query-${option.kind}`}>
            <Hostile text={option.label} />
          </span>
          <span class="muted">
            <Hostile text={option.detail} />
          </span>
        </div>
      ))}
    </div>
  );
}
