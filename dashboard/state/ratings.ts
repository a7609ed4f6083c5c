/** Ratings that were given on this page: list and drawer both show them before they load again. */
import { signal } from '@preact/signals';
import { call } from '../client/call.ts';

const ratings = signal<ReadonlyMap<string, boolean>>(new Map());

const listeners = new Set<() => void>();

/** Calls `listener` after each rating, when counts of rated requests are out of date. Returns what ends that. */
export function whenRated(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Returns the rating of a request: the one given here, else the loaded one. */
export function ratingOf(id: string, loaded: boolean | null | undefined): boolean | null {
  return ratings.value.get(id) ?? loaded ?? null;
}

/** Rates a request. */
export async function rate(id: string, rating: boolean): Promise<void> {
  await call('POST', `/v1/request/${encodeURIComponent(id)}/feedback`, { rating });
  ratings.value = new Map(ratings.value).set(id, rating);
  for (const listener of listeners) listener();
}
