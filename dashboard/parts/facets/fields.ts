/** The fields that the panel has, by their names in the query and in `/v1/request/facets`. */

export type FacetField = {
  readonly title: string;
  /** As in `/v1/request/facets`. */
  readonly facet: string;
  /** As in the query's text, without quotation marks. */
  readonly field: string;
};

export const FACET_FIELDS: readonly FacetField[] = [
  { title: 'Status', facet: 'status', field: 'status' },
  { title: 'Error', facet: 'error_code', field: 'error_code' },
  // Facets count the model that answered; `model` is what the caller wrote.
  { title: 'Model', facet: 'model', field: 'model_used' },
  { title: 'Provider', facet: 'provider', field: 'provider' },
  { title: 'User', facet: 'user', field: 'user' },
  { title: 'API key', facet: 'api_key', field: 'api_key' },
  { title: 'Source', facet: 'source', field: 'source' },
  { title: 'Path', facet: 'path', field: 'path' },
  { title: 'Prompt', facet: 'prompt_id', field: 'prompt' },
  { title: 'Prompt version', facet: 'prompt_version', field: 'prompt_version' },
];

const PROPERTY = 'property:';

/** Returns a property as a field. */
export function propertyFacet(name: string): FacetField {
  return { title: name, facet: `${PROPERTY}${name}`, field: `property.${name}` };
}

/** Returns the field of the query that a facet counts the values of. */
export function fieldOfFacet(facet: string): string {
  if (facet.startsWith(PROPERTY)) return propertyFacet(facet.slice(PROPERTY.length)).field;
  return FACET_FIELDS.find((one) => one.facet === facet)?.field ?? facet;
}

/** Classes of statuses, with the condition for each. */
export const STATUS_CLASSES: readonly { title: string; text: string; from: number; to: number }[] = [
  { title: 'Success (2xx)', text: 'status:200..300', from: 200, to: 300 },
  { title: "Caller's error (4xx)", text: 'status:400..500', from: 400, to: 500 },
  { title: "Provider's error (5xx)", text: 'status:500..600', from: 500, to: 600 },
];
