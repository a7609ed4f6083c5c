/** The button below a list that comes page by page. */
import type { Pages } from './use-pages.ts';

/** Shows nothing at the end of the list. */
export function Older({ more }: Pick<Pages<unknown>, 'more'>) {
  if (more === null) return null;
  return (
    <p class="more">
      <button type="button" onClick={more}>
        Older
      </button>
    </p>
  );
}
