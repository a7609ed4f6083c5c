/** A person's grades of a request that are not sent yet. They are found again after a look at other items and pages. */
import { useRef, useState } from 'preact/hooks';
import { Memory } from '../../client/recent.ts';
import type { GradeDraft } from '../../parts/grades/values.ts';
import { personKey } from '../../state/reviewer.ts';
import type { Draft } from './draft.ts';

const MOST = 500;
const drafts = new Memory<Draft>(MOST);
const NOTHING: Draft = {};

const keyOf = (requestId: string) => `${personKey()} ${requestId}`;

/** Ends the draft that was sent; what was written since stays. */
export function endDraft(requestId: string, sent: Draft): void {
  if (drafts.get(keyOf(requestId)) === sent) drafts.delete(keyOf(requestId));
}

/** Returns the draft of a request, and the way to change it. */
export function useDraft(requestId: string) {
  const [, setTurn] = useState(0);
  // Of the moment, not of the last rendering: two keys in one event both count.
  const latest = useRef<Draft>(NOTHING);
  latest.current = drafts.get(keyOf(requestId)) ?? NOTHING;
  const change = (criterionId: string, field: GradeDraft) => {
    latest.current = { ...latest.current, [criterionId]: field };
    drafts.put(keyOf(requestId), latest.current);
    setTurn((before) => before + 1);
  };
  return { draft: latest.current, latest, change };
}
