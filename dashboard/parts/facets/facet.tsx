/** One field with its values. */
import { useState } from 'preact/hooks';
import { type KeyNames, useKeyNames } from '../../client/key-names.ts';
import { afterPriority } from '../../client/priority.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../failure/failure.tsx';
import { count, shortCount } from '../formats/numbers.ts';
import { besideBar } from '../query-bar/beside-bar.ts';
import { addCondition, conditionsOn, removeCondition } from '../query-bar/edit.ts';
import { FacetCheck } from './facet-check.tsx';
import type { FacetField } from './fields.ts';
import { loadFacet, MOST_KEYS, type Scope } from './load.ts';
import { StatusClasses } from './status-classes.tsx';
import { type FacetRow, facetRows } from './values.ts';

export type FacetProps = { of: FacetField; scope: Scope; onChange: (q: string) => void };

const FIRST = 10;
const MORE = 100;

/** Is loaded when it is opened; is open from the beginning when the query has a condition on it. */
export function Facet({ of, scope, onChange }: FacetProps) {
  const conditions = conditionsOn(scope.q, of.field);
  const [isOpen, setOpen] = useState(conditions.length > 0);
  return (
    <details class="facet" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {of.title}
        {conditions.length > 0 && <span class="chip">{conditions.length}</span>}
      </summary>
      {isOpen && <Values of={of} scope={scope} onChange={onChange} />}
    </details>
  );
}

function isNamed(names: KeyNames, id: string, search: string): boolean {
  return `${names.get(id) ?? ''} ${id}`.toLowerCase().includes(search.toLowerCase());
}

function Values({ of, scope, onChange }: FacetProps) {
  const [search, setSearch] = useState('');
  const [limit, setLimit] = useState(FIRST);
  const { facet, field, title } = of;
  const isOfKeys = facet === 'api_key';
  // Keys are searched here, by their names, which the facet does not have. One value more tells whether there are more.
  const asked = isOfKeys ? { search: '', limit: MOST_KEYS } : { search, limit: limit + 1 };
  const key = `facet ${JSON.stringify([facet, scope, asked])}`;
  const { data, failure, isLoading, reload } = useResource(key, (signal) =>
    afterPriority(signal, () => loadFacet(facet, scope, asked, signal)),
  );
  const found = data?.values ?? [];
  const conditions = conditionsOn(scope.q, field);
  const names = useKeyNames(isOfKeys ? [...found, ...conditions].map(({ value }) => value) : []);
  const counted = isOfKeys ? found.filter(({ value }) => isNamed(names, String(value), search)) : found;
  const rows = facetRows(counted.slice(0, limit), conditions);
  const toggle = (row: FacetRow, exclude: boolean) => onChange(toggled(scope.q, field, row, exclude));
  return (
    <div class={isLoading ? 'facet-values busy' : 'facet-values'}>
      <FailureNotice failure={besideBar(failure, scope.q)} retry={reload} />
      {(search !== '' || counted.length > limit || limit > FIRST) && (
        <input
          type="search"
          aria-label={`Search in ${title}`}
          placeholder="Search"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      {facet === 'status' && <StatusClasses q={scope.q} values={counted} onChange={onChange} />}
      <ul>
        {rows.map((row) => (
          <Row key={JSON.stringify(row.value)} row={row} names={names} onToggle={toggle} />
        ))}
      </ul>
      {data !== null && rows.length === 0 && <p class="muted">None</p>}
      {counted.length > limit && (
        <button type="button" class="quiet" onClick={() => setLimit(limit + MORE)}>
          More
        </button>
      )}
      {data?.approximate && <p class="muted">Of the newest 20,000 requests</p>}
    </div>
  );
}

function toggled(q: string, field: string, { value, state }: FacetRow, exclude: boolean): string {
  const wanted = exclude ? 'excluded' : 'included';
  return state === wanted
    ? removeCondition(q, field, value, { exclude })
    : addCondition(q, field, value, { exclude });
}

type RowProps = { row: FacetRow; names: KeyNames; onToggle: (row: FacetRow, exclude: boolean) => void };

function Row({ row, names, onToggle }: RowProps) {
  const { value, state } = row;
  const shown =
    value === null ? 'none' : value === '' ? '(empty)' : (names.get(String(value)) ?? String(value));
  return (
    <li class={`facet-row facet-${state}`}>
      <FacetCheck
        isOn={state === 'included'}
        label={shown}
        isAbout={value === null || value === ''}
        onToggle={(isAlt) => onToggle(row, isAlt)}
      />
      <button
        type="button"
        class="quiet facet-exclude"
        aria-label={`Exclude ${shown}`}
        aria-pressed={state === 'excluded'}
        title="Exclude (Alt-click)"
        onClick={() => onToggle(row, true)}
      >
        −
      </button>
      <span class="number muted" title={`${count(row.count)} requests`}>
        {shortCount(row.count)}
      </span>
    </li>
  );
}
