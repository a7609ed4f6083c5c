/** Statuses by their first digit: one class at a time. */
import type { Facets } from '#core/contracts/facets.ts';
import { shortCount } from '../formats/numbers.ts';
import { hasTerm, withTerm } from '../query-bar/edit.ts';
import { FacetCheck } from './facet-check.tsx';
import { STATUS_CLASSES } from './fields.ts';

export type StatusClassesProps = { q: string; values: Facets['values']; onChange: (q: string) => void };

/** A class takes the place of all other conditions on the status. */
export function StatusClasses({ q, values, onChange }: StatusClassesProps) {
  return (
    <ul>
      {STATUS_CLASSES.map(({ title, text, from, to }) => {
        const isOn = hasTerm(q, text);
        const found = values
          .filter(({ value }) => Number(value) >= from && Number(value) < to)
          .reduce((sum, { count }) => sum + count, 0);
        return (
          <li key={text} class="facet-row">
            <FacetCheck
              isOn={isOn}
              label={title}
              onToggle={() => onChange(withTerm(q, 'status', isOn ? null : text))}
            />
            <span class="number muted">{shortCount(found)}</span>
          </li>
        );
      })}
    </ul>
  );
}
