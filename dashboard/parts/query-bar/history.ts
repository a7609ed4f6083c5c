/** Queries that were asked before in this browser, an organization's apart from another's. */

const MOST = 50;
const placeOf = (organizationId: string) => `assay.queries.${organizationId}`;

/** Returns them, the newest first. */
export function pastQueries(organizationId: string): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(placeOf(organizationId)) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : [];
  } catch {
    // Without storage, or with another's text in it: as if nothing had been kept.
    return [];
  }
}

/** Keeps a query; the oldest goes when there are many. */
export function keepQuery(organizationId: string, q: string): void {
  if (q === '') return;
  const kept = [q, ...pastQueries(organizationId).filter((one) => one !== q)].slice(0, MOST);
  try {
    localStorage.setItem(placeOf(organizationId), JSON.stringify(kept));
  } catch {
    // They cannot be kept.
  }
}
