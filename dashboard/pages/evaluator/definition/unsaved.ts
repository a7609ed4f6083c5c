/**
 * Forms of evaluators that were changed and not saved, for the way back to them. They are in the memory of the page alone, and
 * without secrets: what a browser stores outlives the log-in.
 */
import { useRef, useState } from 'preact/hooks';
import type { Evaluator } from '../../../client/evaluators.ts';
import { Memory } from '../../../client/recent.ts';
import type { Draft } from './draft.ts';
import { hasSecrets, withoutSecrets } from './external-draft.ts';

export type Unsaved = {
  draft: Draft;
  /** The version that the draft was begun on; null: the evaluator is new. */
  version: number | null;
  /** Whether secrets were written that are no longer there. */
  lacksSecrets: boolean;
};

const MOST = 50;
const drafts = new Memory<Unsaved>(MOST);

const keyOf = (saved: Pick<Evaluator, 'id'> | null, { kind }: Draft) => saved?.id ?? `new ${kind}`;

/** Forgets the draft of an evaluator that is deleted. */
export function forgetDraft(id: string): void {
  drafts.delete(id);
}

function keep(key: string, { draft, version, lacksSecrets }: Unsaved): void {
  drafts.put(key, {
    draft: { ...draft, external: withoutSecrets(draft.external) },
    version,
    lacksSecrets: lacksSecrets || hasSecrets(draft.external),
  });
}

export type DraftHolder = {
  draft: Draft;
  /** Null: the form is as it was saved, or empty. */
  unsaved: Unsaved | null;
  /** Whether the draft was discarded just now, and can be brought back. */
  isDiscarded: boolean;
  change: (changes: Partial<Draft>) => void;
  discard: () => void;
  restore: () => void;
  /** Ends the draft that was sent; what was changed while it was under way stays one. */
  markSaved: (sent: Draft, evaluator: Evaluator) => void;
};

/** Returns the form of an evaluator as it was left, else as it is saved. */
export function useUnsaved(saved: Evaluator | null, first: Draft): DraftHolder {
  const key = keyOf(saved, first);
  const [unsaved, setUnsaved] = useState(() => drafts.get(key));
  const [discarded, setDiscarded] = useState<Unsaved | null>(null);
  // Of the moment, not of the last rendering: two changes in one event both count.
  const latest = useRef(unsaved);
  const set = (next: Unsaved | null) => {
    latest.current = next;
    setUnsaved(next);
    setDiscarded(null);
    if (next === null) drafts.delete(key);
    else keep(key, next);
  };
  const change: DraftHolder['change'] = (changes) => {
    const { draft: before, ...rest } = latest.current ?? {
      draft: first,
      version: saved?.version ?? null,
      lacksSecrets: false,
    };
    const draft = { ...before, ...changes };
    set(JSON.stringify(draft) === JSON.stringify(first) ? null : { draft, ...rest });
  };
  const discard = () => {
    const given = latest.current;
    set(null);
    setDiscarded(given);
  };
  const markSaved: DraftHolder['markSaved'] = (sent, { version }) => {
    // The page of the new evaluator comes next: until then the form stays as it is.
    if (saved === null) drafts.delete(key);
    else if (latest.current === null || latest.current.draft === sent) set(null);
    else set({ ...latest.current, version });
  };
  return {
    draft: unsaved?.draft ?? first,
    unsaved,
    isDiscarded: discarded !== null,
    change,
    discard,
    restore: () => set(discarded),
    markSaved,
  };
}
