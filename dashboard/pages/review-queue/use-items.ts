/**
 * The way of a person through the items of a queue. Saves, skips and questions for the next item go to the API one after
 * another, so that the next item is asked for when the API knows of the last grade; the page itself moves on at once.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { NextItemJson } from '#core/contracts/review.ts';
import { type ApiFailure, call } from '../../client/call.ts';
import { Memory, remember } from '../../client/recent.ts';
import { toFailure } from '../../client/resource.ts';
import { loadConversationAhead } from '../../parts/conversation/conversation.tsx';
import { gradesKey, loadGrades } from '../../parts/grades/load.ts';
import { tell } from '../../parts/toast/toast.tsx';
import { addressNow, useAddress } from '../../state/address.ts';
import { authorOf, personKey } from '../../state/reviewer.ts';

/** Work on an item that the API refused, or that did not reach it. */
export type Unsaved = { failure: ApiFailure; again: () => void };

export type Items = {
  /** The request that is shown; null: none is known yet, or none is left. */
  current: string | null;
  isEnded: boolean;
  /** Items before this one, on this page. */
  hasPrevious: boolean;
  /** The reason that the next item is unknown; null: it is not. */
  failure: ApiFailure | null;
  unsaved: ReadonlyMap<string, Unsaved>;
  previous: () => void;
  next: () => void;
  show: (requestId: string) => void;
  look: () => void;
  /** Runs what ends the work on an item, and goes to the next one meanwhile. */
  leave: (requestId: string, run: () => Promise<void>) => void;
};

/** Items that were shown, by queue and person. */
const trails = new Memory<readonly string[]>(20);

/** Makes what an item shows come at once. */
function loadAhead(requestId: string, signal: AbortSignal): void {
  loadConversationAhead(requestId, signal).catch(() => {});
  loadGrades(requestId, signal).then(
    (grades) => remember(gradesKey(requestId), grades),
    () => {},
  );
}

function askNext(queueId: string, besides: string | null, signal: AbortSignal): Promise<NextItemJson | null> {
  const query = new URLSearchParams({ ...authorOf(), ...(besides !== null && { besides }) });
  return call('GET', `/v1/review-queue/${encodeURIComponent(queueId)}/next?${query}`, undefined, signal);
}

/** Runs one thing after another; none of them throws. */
function useLine() {
  const line = useRef<Promise<void>>(Promise.resolve());
  return (run: () => Promise<void>) => {
    line.current = line.current.then(run);
  };
}

/** Returns the items of the trail, which begins with the item of the address. */
function useTrail(queueId: string, current: string | null): readonly string[] {
  const key = `${personKey()} ${queueId}`;
  const trail = trails.get(key) ?? [];
  if (current === null || trail.includes(current)) return trail;
  const longer = [...trail, current];
  trails.put(key, longer);
  return longer;
}

/**
 * Returns the items of a queue that a person sees.
 * @param onChanged is called when the progress of the queue is another one
 */
export function useItems(queueId: string, onChanged: () => void): Items {
  const { query, set } = useAddress();
  const current = query.item ?? null;
  const trail = useTrail(queueId, current);
  const [ahead, setAhead] = useState<string | null>(null);
  const [isEnded, setEnded] = useState(false);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [unsaved, setUnsaved] = useState<Items['unsaved']>(new Map());
  const inLine = useLine();
  /** Saves and skips that are not at their end. */
  const waiting = useRef(0);
  const leaving = useRef(new AbortController());
  // biome-ignore lint/correctness/useExhaustiveDependencies: the page of a queue and a person has one way
  useEffect(() => {
    leaving.current = new AbortController();
    inLine(() => look(false));
    return () => leaving.current.abort();
  }, []);

  const show = (requestId: string | null) => {
    setEnded(false);
    set({ item: requestId }, { replace: true });
  };
  /**
   * Asks for an item if none is shown, and for the one behind it.
   * @param hasArrived renews the claim of the item that is shown, which was made when it was loaded ahead
   */
  const look = async (hasArrived: boolean) => {
    const { signal } = leaving.current;
    // Work that waits ends with another look; before it the API would name an item that is about to be left.
    const isLate = () => signal.aborted || waiting.current > 0;
    if (isLate()) return;
    setFailure(null);
    try {
      let shown = addressNow().query.item ?? null;
      if (shown === null) {
        shown = (await askNext(queueId, null, signal))?.request_id ?? null;
        if (isLate()) return;
        if (shown === null) return setEnded(true);
        show(shown);
      }
      const behind = await askNext(queueId, shown, signal);
      if (isLate()) return;
      setAhead(behind?.request_id ?? null);
      if (behind !== null) loadAhead(behind.request_id, signal);
      if (hasArrived) await askNext(queueId, behind?.request_id ?? null, signal);
    } catch (error) {
      if (!signal.aborted) setFailure(toFailure(error));
    }
  };
  const note = (requestId: string, one: Unsaved | null) =>
    setUnsaved((before) => {
      const after = new Map(before);
      if (one === null) after.delete(requestId);
      else after.set(requestId, one);
      return after;
    });
  const send = (requestId: string, run: () => Promise<void>) => {
    waiting.current += 1;
    inLine(async () => {
      try {
        await run();
        note(requestId, null);
        onChanged();
      } catch (error) {
        const failure = toFailure(error);
        note(requestId, { failure, again: () => send(requestId, run) });
        // On another page nothing else says it.
        if (leaving.current.signal.aborted) tell(`A grade is not saved: ${failure.message}`, { isBad: true });
      }
      waiting.current -= 1;
    });
    inLine(() => look(true));
  };
  const at = current === null ? trail.length : trail.indexOf(current);
  /** The item to the right; null: it is unknown, or none is left. */
  const following = trail[at + 1] ?? (ahead !== null && !trail.includes(ahead) ? ahead : null);
  const leave: Items['leave'] = (requestId, run) => {
    setAhead(null);
    show(following);
    send(requestId, run);
  };
  return {
    current,
    isEnded,
    hasPrevious: at > 0,
    failure,
    unsaved,
    previous: () => at > 0 && show(trail[at - 1]!),
    next: () => {
      if (following === null) return;
      show(following);
      inLine(() => look(true));
    },
    show,
    look: () => inLine(() => look(false)),
    leave,
  };
}
