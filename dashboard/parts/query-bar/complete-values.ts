/** How the query bar asks for the values of a field. */

/** A value with the number of requests that have it. */
export type CountedValue = {
  readonly value: string | number | null;
  readonly count: number;
  /** Name of the API key, where the value is the id of one. */
  readonly name?: string | undefined;
};

/** Lists the values of a field that contain a text. `field` is one of `/v1/request/facets`. */
export type CompleteValues = (
  field: string,
  search: string,
  signal: AbortSignal,
) => Promise<readonly CountedValue[]>;
