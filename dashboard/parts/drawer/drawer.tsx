/** The request beside the list. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { preferences, setPreferences } from '../../state/preferences.ts';
import { CopyButton } from '../copy/copy.tsx';
import { RequestView } from '../request/request-view.tsx';

const NARROWEST = 25;
const WIDEST = 85;
const STEP = 5;

/** A handle between list and drawer: dragged, or moved by arrows. The width is a share of the window, in percent. */
function Handle() {
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
      aria-label="Width of the request"
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

export type DrawerProps = {
  id: string;
  /** Requests that will probably be opened next. */
  neighbours: readonly string[];
  onClose: () => void;
};

/** Shows a request; the list keeps its place and the focus. */
export function Drawer({ id, neighbours, onClose }: DrawerProps) {
  const body = useRef<HTMLDivElement>(null);
  // Before the paint, both: whoever scrolls or moves the focus as soon as the request is seen is not overruled.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another request begins at its top
  useLayoutEffect(() => {
    body.current?.scrollTo(0, 0);
  }, [id]);
  useLayoutEffect(() => {
    // There the drawer covers the list, and what has the focus must be seen.
    if (matchMedia('(max-width: 60rem)').matches) body.current?.focus();
  }, []);
  const page = `/requests/${encodeURIComponent(id)}`;
  return (
    <aside class="drawer" aria-label="Request" style={{ width: `${preferences.value.drawerWidth}vw` }}>
      <Handle />
      <header class="drawer-head">
        <a href={page}>Open page</a>
        <CopyButton text={`${location.origin}${page}`} what="link to the request" label="Copy link" />
        <button type="button" class="quiet" aria-label="Close the request" onClick={onClose}>
          ✕
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key */}
      <div ref={body} class="drawer-body" tabIndex={0}>
        <RequestView id={id} neighbours={neighbours} />
      </div>
    </aside>
  );
}
