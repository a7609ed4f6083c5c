/** The place in a list, kept with the step in the history: back and refresh return to it. */

export type Place = {
  /** The query of the list. */
  key: string;
  /** The request in the uppermost row; null: the list is at its beginning. */
  id: string | null;
  /** Pixels of that row that are scrolled away. */
  offset: number;
};

function isPlace(value: unknown): value is Place {
  const { key, id, offset } = (value ?? {}) as Partial<Place>;
  return typeof key === 'string' && (typeof id === 'string' || id === null) && typeof offset === 'number';
}

/** Returns the place of this step in the history, when it is one of this list. */
export function readPlace(key: string): Place | null {
  const place: unknown = (history.state as { place?: unknown } | null)?.place;
  return isPlace(place) && place.key === key ? place : null;
}

/** Keeps the place. */
export function keepPlace(place: Place): void {
  history.replaceState({ place }, '');
}
