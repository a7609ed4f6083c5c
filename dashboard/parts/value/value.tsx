/** A value that filters: a link to the same page with the value's condition in the query. */
import type { ComponentChildren } from 'preact';
import { type AddressChanges, addressNow, go, href } from '../../state/address.ts';
import { FreshLink } from '../links/fresh-link.tsx';
import { addCondition, type FieldValue } from '../query-bar/edit.ts';

export type FilterValueProps = {
  /** As in the query's text, without quotation marks: `user`, `property.user tier`. */
  field: string;
  value: FieldValue;
  /** What is shown. Default: the value; a dash where there is none. */
  children?: ComponentChildren;
  /** The page with the query. Default: the one that is shown. Another page gets the value and the range alone. */
  page?: string;
};

/**
 * A click, or `f` while it has the focus, filters by the value; with Alt, all others are shown. A middle click opens the filtered
 * page beside this one.
 */
export function FilterValue({ field, value, children, page }: FilterValueProps) {
  const urlOf = (exclude: boolean) => {
    const { path, query } = addressNow();
    const target = page ?? path;
    // The place in the list belongs to the query before.
    const kept: AddressChanges = target === path ? { ...query, at: null } : { range: query.range ?? null };
    const q = target === path ? (query.q ?? '') : '';
    return href(target, { ...kept, q: addCondition(q, field, value, { exclude }) });
  };
  return (
    <FreshLink
      class="filter-value"
      urlOf={() => urlOf(false)}
      title="Filter by this value. Alt: exclude it"
      onClick={(event) => {
        if (!event.altKey) return;
        // Of the browser, it would be a download.
        event.preventDefault();
        go(urlOf(true));
      }}
      onKeyDown={(event) => {
        if (event.code !== 'KeyF' || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go(urlOf(event.altKey));
      }}
    >
      {children ?? (value === null ? '–' : String(value))}
    </FreshLink>
  );
}
