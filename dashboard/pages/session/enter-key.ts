/** The key that opens the current row. */
import type { Binding } from '../../state/keys.ts';

/** Returns a binding of Enter that leaves links and buttons that have the focus to do what they are for. */
export function enterKey(what: string, open: () => void): Binding {
  return {
    what,
    run: ({ target }) => {
      const own = target instanceof Element ? target.closest<HTMLElement>('a, button') : null;
      if (own === null) open();
      else own.click();
    },
  };
}
