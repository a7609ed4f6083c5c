/** Things of one list: the API returns at least so many. */
export const MOST_CHOICES = 100;

/** A list of things that one is chosen from. */
export type Choices<Thing> = {
  /** Names the list among all resources. */
  key: string;
  /** Loads the newest `MOST_CHOICES` with the text in their names, in any case. */
  find: (search: string, signal: AbortSignal) => Promise<Thing[]>;
  load: (id: string, signal: AbortSignal) => Promise<Thing>;
};
