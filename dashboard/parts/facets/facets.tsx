/** A panel of fields with their values: a check filters, with Alt it excludes. */
import type { ScoreKey } from '#core/contracts/names.ts';
import { decimal } from '../formats/numbers.ts';
import { addCondition, hasCondition, removeCondition } from '../query-bar/edit.ts';
import { Facet } from './facet.tsx';
import { FacetCheck } from './facet-check.tsx';
import { FACET_FIELDS, propertyFacet } from './fields.ts';
import { type Scope, useOpenNames } from './load.ts';

export type FacetsProps = Scope & { onChange: (q: string) => void };

/** Nothing is counted until a field is opened. */
export function FacetPanel({ q, from, to, onChange }: FacetsProps) {
  const { properties, scores } = useOpenNames();
  const scope = { q, from, to };
  return (
    <section class="facets" aria-label="Values to filter by">
      {FACET_FIELDS.map((field) => (
        <Facet key={field.facet} of={field} scope={scope} onChange={onChange} />
      ))}
      {properties.length > 0 && <h3>Properties</h3>}
      {properties.map((name) => (
        <Facet key={name} of={propertyFacet(name)} scope={scope} onChange={onChange} />
      ))}
      {scores.length > 0 && <Scores q={q} scores={scores} onChange={onChange} />}
    </section>
  );
}

type ScoresProps = { q: string; scores: readonly ScoreKey[]; onChange: (q: string) => void };

/** Scores are numbers: whether there is one is what can be checked. */
function Scores({ q, scores, onChange }: ScoresProps) {
  const toggle = (field: string, exclude: boolean) => {
    const change = hasCondition(q, field, null, { exclude }) ? removeCondition : addCondition;
    onChange(change(q, field, null, { exclude }));
  };
  return (
    <details class="facet">
      <summary>Scores</summary>
      <ul>
        {scores.map(({ key, min, max }) => {
          const field = `scores.${key}`;
          return (
            <li key={key} class="facet-row">
              <FacetCheck
                isOn={hasCondition(q, field, null, { exclude: true })}
                label={key}
                title="Has this score. Alt: has none"
                onToggle={(isAlt) => toggle(field, !isAlt)}
              />
              <span class="number muted">
                {decimal(min)} to {decimal(max)}
              </span>
            </li>
          );
        })}
      </ul>
    </details>
  );
}
