/** The token of a one-time link, such as `npm start` prints: `/#login=<token>`. */

const FRAGMENT = '#login=';

/** What is used of the browser's window. */
type Place = {
  location: { hash: string; pathname: string; search: string };
  history: { state: unknown; replaceState: (state: unknown, unused: string, url: string) => void };
};

/**
 * Takes the token out of the address, so that neither the history nor a copied link has it. Null: the address has none.
 * @param place the window, in a browser
 */
export function takeLinkToken({ location: { hash, pathname, search }, history }: Place): string | null {
  if (!hash.startsWith(FRAGMENT)) return null;
  history.replaceState(history.state, '', pathname + search);
  return hash.slice(FRAGMENT.length);
}
