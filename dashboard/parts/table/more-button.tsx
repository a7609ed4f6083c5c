import type { Pages } from './use-pages.ts';

/** The button below a list that comes page by page; nothing at its end. */
export function MoreButton({ more, label = 'Older' }: Pick<Pages<unknown>, 'more'> & { label?: string }) {
  if (more === null) return null;
  return (
    <p class="more">
      <button type="button" onClick={more}>
        {label}
      </button>
    </p>
  );
}
