/** Ratings that were given on this page: list and drawer both show them before they load again. */
import { signal } from '@preact/signals';
import { call } from '../client/call.ts';
import { whenForgotten } from '../client/recent.ts';

/** A row or a record. */
export type Rated = { request_id: string; feedback_rating?: boolean | null };

const listeners = new Set<() => void>();

/** Calls `listener` after each rating, when counts of rated requests are out of date. Returns what ends that. */
export function whenRated(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

type Given = { rating: boolean; atMs: number };

const ratings = signal<ReadonlyMap<string, Given>>(new Map());
/** When a row or a record was asked for, as `performance.now()` has it. */
const askedMs = new WeakMap<Rated, number>();

whenForgotten(() => {
  ratings.value = new Map();
});

/** Notes when rows or records were asked for: they know the ratings that were given before. */
export function noteAsked(loaded: readonly Rated[], atMs: number): void {
  for (const one of loaded) askedMs.set(one, atMs);
}

/** Returns the rating of a request: the one given here since it was asked for, else the loaded one. */
export function ratingOf(loaded: Rated): boolean | null {
  const given = ratings.value.get(loaded.request_id);
  if (given !== undefined && given.atMs > (askedMs.get(loaded) ?? 0)) return given.rating;
  return loaded.feedback_rating ?? null;
}

/** Rates a request. */
export async function rate(id: string, rating: boolean): Promise<void> {
  await call('POST', `/v1/request/${encodeURIComponent(id)}/feedback`, { rating });
  ratings.value = new Map(ratings.value).set(id, { rating, atMs: performance.now() });
  for (const listener of listeners) listener();
}
