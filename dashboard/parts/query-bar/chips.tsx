/** The conditions of a query, each to remove, to change or to turn around. */
import { useMemo } from 'preact/hooks';
import { Hostile } from '../text/hostile.tsx';
import { negatedTerm, readTerms, type Term, withoutTerm } from './terms.ts';

export type ChipsProps = {
  q: string;
  onChange: (q: string) => void;
  /** Shows a condition in the field. */
  onEdit: (from: number, to: number) => void;
};

/** Shows nothing for a query without conditions, and for one with a mistake. */
export function Chips({ q, onChange, onEdit }: ChipsProps) {
  const terms = useMemo(() => readTerms(q) ?? [], [q]);
  if (terms.length === 0) return null;
  const negate = (term: Term) => onChange(q.slice(0, term.from) + negatedTerm(term) + q.slice(term.to));
  const onKeyDown = (event: KeyboardEvent, index: number) => {
    if (event.key !== 'Delete' && event.key !== 'Backspace') return;
    event.preventDefault();
    onChange(withoutTerm(q, terms, index));
  };
  return (
    <ul class="query-bar-chips" aria-label="Conditions">
      {terms.map((term, index) => (
        <li key={term.from} class="chip">
          <button
            type="button"
            class="query-bar-chip"
            title="Change. Alt: turn around. Delete: remove"
            onClick={(event) => (event.altKey ? negate(term) : onEdit(term.from, term.to))}
            onKeyDown={(event) => onKeyDown(event, index)}
          >
            <Hostile text={term.text} />
          </button>
          <button
            type="button"
            class="query-bar-cross"
            aria-label={`Remove ${term.text}`}
            onClick={() => onChange(withoutTerm(q, terms, index))}
          >
            ✕
          </button>
        </li>
      ))}
    </ul>
  );
}
