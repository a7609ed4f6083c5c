/** A link whose address depends on that of the page. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

export type FreshLinkProps = {
  /** Returns the address; called when the link is shown, and again before it can be followed. */
  urlOf: () => string;
  children: ComponentChildren;
  class?: string;
  title?: string;
  onClick?: (event: MouseEvent) => void;
  onKeyDown?: (event: KeyboardEvent) => void;
};

/**
 * Knows the page's address of the moment without rendering again at each change of it, as hundreds of them in a list would: it
 * is looked at when the link is pointed at, touched, focused or followed.
 */
export function FreshLink({ urlOf, children, onClick, ...more }: FreshLinkProps) {
  const element = useRef<HTMLAnchorElement>(null);
  const refresh = () => {
    if (element.current !== null) element.current.href = urlOf();
  };
  return (
    <a
      {...more}
      ref={element}
      href={urlOf()}
      onPointerEnter={refresh}
      onPointerDown={refresh}
      onFocus={refresh}
      onClick={(event) => {
        refresh();
        onClick?.(event);
      }}
    >
      {children}
    </a>
  );
}
