/** j and k go from row to row: to each one's link or button, which Enter then opens as everywhere. */
import { useRef } from 'preact/hooks';
import { useKeys } from '../../state/keys.ts';

/** The class of the link or button of a row that the keys go to. */
export const ROW_LINK = 'row-link';

/**
 * Binds the keys to the rows inside an element.
 * @param what a row is, such as `evaluator`
 * @returns a ref for that element
 */
export function useRowKeys(title: string, what: string) {
  const box = useRef<HTMLDivElement>(null);
  const move = (step: 1 | -1) => {
    const links = [...(box.current?.querySelectorAll<HTMLElement>(`.${ROW_LINK}`) ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    const next = at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + step));
    links[next]?.focus();
  };
  useKeys(title, {
    j: { what: `Next ${what}; Enter opens it`, run: () => move(1), mayRepeat: true },
    k: { what: `${what[0]!.toUpperCase()}${what.slice(1)} before`, run: () => move(-1), mayRepeat: true },
  });
  return box;
}
