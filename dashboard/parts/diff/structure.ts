/** Differences between JSON values, by the paths of their leaves. */

/** Paths that are compared; the rest of a larger value is left out. */
export const MOST_PATHS = 5_000;
const DEEPEST = 40;

/** A path with the value that each document has there, as JSON; undefined: it has none. */
export type Difference = { path: string; values: (string | undefined)[] };
export type Comparison = { differences: Difference[]; isCut: boolean };

/** Names that read well between dots, and are no number of an array. */
const PLAIN = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;

/** Writes a member behind the path of its parent: no two members have the same path. */
function step(name: string, isItem: boolean, parent: string): string {
  if (!isItem && !PLAIN.test(name)) return `[${JSON.stringify(name)}]`;
  return parent === '' ? name : `.${name}`;
}

/**
 * Returns the leaves of a value by their paths. An empty object and an empty array are leaves.
 * @internal for tests
 */
export function leavesOf(value: unknown): { leaves: Map<string, string>; isCut: boolean } {
  const leaves = new Map<string, string>();
  const waiting: { path: string; value: unknown; depth: number }[] = [{ path: '', value, depth: 0 }];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (leaves.size >= MOST_PATHS) return { leaves, isCut: true };
    const { path, value: found, depth } = one;
    const members = found !== null && typeof found === 'object' ? Object.entries(found) : [];
    if (members.length === 0 || depth >= DEEPEST) {
      leaves.set(path, JSON.stringify(found));
      continue;
    }
    for (const [name, member] of members.toReversed()) {
      waiting.push({ path: path + step(name, Array.isArray(found), path), value: member, depth: depth + 1 });
    }
  }
  return { leaves, isCut: false };
}

/** Compares documents. The paths come in the order of the first document that has them. */
export function compareStructures(documents: readonly unknown[]): Comparison {
  const all = documents.map(leavesOf);
  const paths = new Set(all.flatMap(({ leaves }) => [...leaves.keys()]));
  const differences = [...paths]
    .map((path) => ({ path, values: all.map(({ leaves }) => leaves.get(path)) }))
    .filter(({ values }) => values.some((value) => value !== values[0]));
  return { differences, isCut: all.some(({ isCut }) => isCut) };
}
