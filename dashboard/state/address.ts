/** The address: all that a link can carry. */
import { useLocation } from 'preact-iso/router';

/** Changes of the query string; null removes a name. */
export type AddressChanges = Readonly<Record<string, string | null>>;

export type Address = {
  path: string;
  query: Readonly<Record<string, string>>;
  /** Changes names of the query string and stays on the page. `replace`: without a step in the history. */
  set: (changes: AddressChanges, options?: { replace?: boolean }) => void;
  /** Goes to another page. */
  go: (url: string, options?: { replace?: boolean }) => void;
};

/**
 * Returns an address. Characters that read well in a query string stay as they are.
 * @example href('/requests', { q: 'status:>=500' }) // '/requests?q=status:%3E%3D500'
 */
export function href(path: string, query: AddressChanges = {}): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeValue(value!)}`);
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`;
}

function encodeValue(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replace(/%(?:3A|2C|2F|20)/g, (code) =>
    code === '%20' ? '+' : decodeURIComponent(code),
  );
}

/** Has a path that was typed with a plain `%`, as in `/users/100%`, mean that: no part of it could be decoded. */
export function mendAddress(): void {
  const { pathname, search, hash } = location;
  try {
    decodeURIComponent(pathname);
  } catch {
    history.replaceState(history.state, '', pathname.replaceAll('%', '%25') + search + hash);
  }
}

type Place = Pick<Address, 'path' | 'query'>;

let last: { href: string; place: Place } | null = null;

/** Returns the address of the moment. A component that shows it renders again when it changes, by `useAddress`. */
export function addressNow(): Place {
  const { href, pathname, search } = location;
  if (last?.href !== href) {
    const path = pathname.replace(/\/+$/, '') || '/';
    last = { href, place: { path, query: Object.fromEntries(new URLSearchParams(search)) } };
  }
  return last.place;
}

/** The router's, once it is there. */
let route: (url: string, replace?: boolean) => void = () => {};

/** Lets `go` reach the router; called by what is around all pages. */
export function useRouter(): void {
  route = useLocation().route;
}

/** Goes to another page. */
export const go: Address['go'] = (url, { replace = false } = {}) => route(url, replace);

const set: Address['set'] = (changes, options) => {
  // Of the moment, not of the last rendering: two changes in one event both count.
  const { path, query } = addressNow();
  const next = href(path, { ...query, ...changes });
  if (next !== `${location.pathname}${location.search}`) go(next, options);
};

/** Returns the address of the page, and the ways to change it, which stay the same. */
export function useAddress(): Address {
  const { path, query } = useLocation();
  return { path, query, set, go };
}
