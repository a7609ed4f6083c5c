/** When a mistake is shown: at once in the query that is asked, else not while its part is being written. */
import { useEffect, useState } from 'preact/hooks';
import type { Explained } from '#core/filter/query-text/mod.ts';

/** A pause of typing elsewhere in the text. */
const PAUSE_MS = 700;
/** A pause with the cursor in the wrong part: as long as nobody takes who goes on writing it. */
const LONG_PAUSE_MS = 2_500;

/**
 * Returns whether the mistake is shown, and the way to show it at once.
 * @param text changes when something is typed
 * @param asked the query of the page: one with a mistake comes from a link
 */
export function useFault(
  text: string,
  { error }: Explained,
  cursor: number,
  asked: string,
): { isShown: boolean; show: () => void } {
  const [shownFor, setShownFor] = useState<string | null>(null);
  const isInside =
    error !== null && cursor >= error.offset && cursor <= error.offset + Math.max(1, error.length);
  useEffect(() => {
    if (error === null) return;
    const timer = setTimeout(() => setShownFor(text), isInside ? LONG_PAUSE_MS : PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, error, isInside]);
  return { isShown: error !== null && (shownFor === text || asked === text), show: () => setShownFor(text) };
}

/** Returns the sentence about a mistake, which is the API's own. */
export function faultSentence({ error }: Explained, text: string): string {
  if (error === null) return '';
  const part = text.slice(error.offset, error.offset + error.length);
  const shown = part.length > LONGEST_SHOWN ? `${part.slice(0, LONGEST_SHOWN)}…` : part;
  return `${shown === '' ? 'At the end' : shown}: ${error.rule}`;
}

const LONGEST_SHOWN = 40;
