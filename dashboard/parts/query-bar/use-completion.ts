/** What can stand at the cursor: at once what the language has, a moment later the values that the data have. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Option } from '#core/filter/query-text/completion/mod.ts';
import type { CompleteValues } from './complete-values.ts';
import type { LoadedValues } from './completions.ts';

/** A pause so long is waited for before values are asked for. */
const PAUSE_MS = 120;

/** Fetched when a field is used for the first time. */
type Language = Pick<typeof import('../later/asked.ts'), 'completeAt' | 'withValues'>;

export type CompletionProps = {
  text: string;
  /** The cursor; null: nothing is to be completed. */
  at: number | null;
  names: readonly string[];
  completeValues: CompleteValues;
};

/** Returns the options for a place of the text. */
export function useCompletion({ text, at, names, completeValues }: CompletionProps): readonly Option[] {
  const [language, setLanguage] = useState<Language | null>(null);
  const isUsed = at !== null;
  useEffect(() => {
    // Without it, a query can be written all the same.
    if (isUsed && language === null) import('../later/asked.ts').then(setLanguage, () => {});
  }, [isUsed, language]);
  const completion = useMemo(
    () => (at === null || language === null ? null : language.completeAt(text, at, names)),
    [text, at, names, language],
  );
  const facet = completion?.values?.facet ?? null;
  const prefix = completion?.prefix ?? '';
  const [loaded, setLoaded] = useState<LoadedValues | null>(null);
  useEffect(() => {
    if (facet === null) return;
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const values = await completeValues(facet, prefix, controller.signal);
        if (!controller.signal.aborted) setLoaded({ facet, values });
      } catch {
        // Aborted, or failed: the language's own options stay.
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [facet, prefix, completeValues]);
  return useMemo(
    () => (completion === null || language === null ? [] : language.withValues(completion, loaded)),
    [completion, loaded, language],
  );
}
