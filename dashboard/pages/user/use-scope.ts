/** The requests that a user's page is about. */
import { addCondition } from '../../parts/query-bar/edit.ts';
import { rangeName, useRange, withRange } from '../../state/range.ts';

export type UserScope = {
  /** The user, as a query's text. */
  q: string;
  /** With the range. */
  wholeQuery: string;
  from: number;
  to: number;
  /** Of the range. */
  name: string;
  zoom: (span: { from: number; to: number }) => void;
};

/** Returns the user's requests in the range of the address. */
export function useUserScope(id: string): UserScope {
  const range = useRange();
  const { from, to, name } = range;
  const q = addCondition('', 'user', id);
  return {
    q,
    wholeQuery: withRange(q, range),
    from,
    to,
    name,
    zoom: (span) => range.set(rangeName(span.from, span.to)),
  };
}
