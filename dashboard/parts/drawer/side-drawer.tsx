/** A drawer beside a list, whatever it shows. On a narrow screen it covers the list. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { preferences, setPreferences } from '../../state/preferences.ts';

const NARROWEST = 25;
const WIDEST = 85;
const STEP = 5;

/** A handle between list and drawer: dragged, or moved by arrows. The width is a share of the window, in percent. */
function Handle({ what }: { what: string }) {
  const { drawerWidth } = preferences.value;
  const set = (width: number) => {
    setPreferences({ drawerWidth: Math.max(NARROWEST, Math.min(WIDEST, width)) });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that can be moved has no element of its own
    <div
      class="drawer-handle"
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of the ${what}`}
      aria-valuenow={drawerWidth}
      aria-valuemin={NARROWEST}
      aria-valuemax={WIDEST}
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
      }}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
        set(Math.round(((innerWidth - event.clientX) / innerWidth) * 100));
      }}
      onKeyDown={(event) => {
        const steps: Record<string, number> = { ArrowLeft: STEP, ArrowRight: -STEP };
        const step = steps[event.key];
        if (step === undefined) return;
        event.preventDefault();
        set(drawerWidth + step);
      }}
    />
  );
}

export type SideDrawerProps = {
  /** In lower case, as in "Width of the request". */
  what: string;
  /** Of what is shown: another one begins at its top. */
  id: string;
  onClose: () => void;
  /** In the head, before the cross. */
  head: ComponentChildren;
  children: ComponentChildren;
};

/** Shows its children; the list keeps its place and the focus. */
export function SideDrawer({ what, id, onClose, head, children }: SideDrawerProps) {
  const body = useRef<HTMLDivElement>(null);
  // Before the paint, both: whoever scrolls or moves the focus as soon as the content is seen is not overruled.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another one begins at its top
  useLayoutEffect(() => {
    body.current?.scrollTo(0, 0);
  }, [id]);
  useLayoutEffect(() => {
    // There the drawer covers the list, and what has the focus must be seen.
    if (matchMedia('(max-width: 60rem)').matches) body.current?.focus();
  }, []);
  return (
    <aside
      class="drawer"
      aria-label={what[0]!.toUpperCase() + what.slice(1)}
      style={{ width: `${preferences.value.drawerWidth}vw` }}
    >
      <Handle what={what} />
      <header class="drawer-head">
        {head}
        <button type="button" class="quiet" aria-label={`Close the ${what}`} onClick={onClose}>
          ✕
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key */}
      <div ref={body} class="drawer-body" tabIndex={0}>
        {children}
      </div>
    </aside>
  );
}
