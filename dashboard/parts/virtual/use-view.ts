/** What a box that scrolls shows at the moment. */
import { useLayoutEffect, useState } from 'preact/hooks';
import type { View } from './visible.ts';

/** Measures a box, and renders again when it scrolls or changes its height. */
export function useView(element: { readonly current: HTMLElement | null }): View {
  const [view, setView] = useState<View>({ offset: 0, height: 0 });
  useLayoutEffect(() => {
    const box = element.current;
    if (box === null) return;
    const measure = () => setView({ offset: box.scrollTop, height: box.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    box.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener('scroll', measure);
    };
  }, [element]);
  return view;
}
