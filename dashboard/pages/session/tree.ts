/** The tree of a session: its pages joined, and the rows that show it. Pure. */
import type { SessionNode, SessionRequest } from '#core/contracts/session.ts';

/** A request counts as failed from this status on; 0 and below is one whose gateway or client went away. */
const FIRST_ERROR = 400;

/** Whether a request failed. */
export function isFailed({ status }: Pick<SessionRequest, 'status'>): boolean {
  return status >= FIRST_ERROR || status <= 0;
}

function add(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : a + b;
}

/** Joins the trees of two pages by their paths. */
export function joinNodes(first: SessionNode, second: SessionNode): SessionNode {
  const later = new Map(second.children.map((child) => [child.name, child]));
  const children = first.children.map((child) => {
    const same = later.get(child.name);
    later.delete(child.name);
    return same === undefined ? child : joinNodes(child, same);
  });
  return {
    ...first,
    total_requests: first.total_requests + second.total_requests,
    total_tokens: first.total_tokens + second.total_tokens,
    total_cost: add(first.total_cost, second.total_cost),
    requests: [...first.requests, ...second.requests],
    children: [...children, ...later.values()],
  };
}

/** A request, and how deep in the tree it is. */
export type Leaf = { request: SessionRequest; depth: number };

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns all requests of a tree, the oldest first. */
export function leavesOf(root: SessionNode): Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (node: SessionNode, depth: number) => {
    for (const request of node.requests) leaves.push({ request, depth });
    for (const child of node.children) visit(child, depth + 1);
  };
  visit(root, 0);
  return leaves.sort(
    (a, b) =>
      compare(a.request.created_at, b.request.created_at) ||
      compare(a.request.request_id, b.request.request_id),
  );
}

/** Returns the users of requests, in the order in which they came. */
export function usersOf(leaves: readonly Leaf[]): string[] {
  return [...new Set(leaves.flatMap(({ request }) => request.user_id ?? []))];
}

export type TreeRow =
  | { kind: 'node'; depth: number; node: SessionNode; errors: number; isClosed: boolean }
  | { kind: 'request'; depth: number; request: SessionRequest };

/** Counts the failed requests of a node and of all below. */
function countErrors(node: SessionNode, counts: Map<SessionNode, number>): number {
  const own = node.requests.filter(isFailed).length;
  const errors = node.children.reduce((sum, child) => sum + countErrors(child, counts), own);
  counts.set(node, errors);
  return errors;
}

/**
 * Returns the rows of a tree: each node, its requests, then its children.
 * @param closed paths of nodes whose requests and children are hidden
 * @param isErrorsOnly leaves out requests that succeeded, and nodes without any other
 */
export function treeRows(root: SessionNode, closed: ReadonlySet<string>, isErrorsOnly: boolean): TreeRow[] {
  const counts = new Map<SessionNode, number>();
  countErrors(root, counts);
  const rows: TreeRow[] = [];
  const visit = (node: SessionNode, depth: number) => {
    const errors = counts.get(node)!;
    if (isErrorsOnly && errors === 0) return;
    const isClosed = closed.has(node.path);
    rows.push({ kind: 'node', depth, node, errors, isClosed });
    if (isClosed) return;
    for (const request of node.requests)
      if (!isErrorsOnly || isFailed(request)) rows.push({ kind: 'request', depth: depth + 1, request });
    for (const child of node.children) visit(child, depth + 1);
  };
  visit(root, 0);
  return rows;
}

/** Reads the closed paths of an address. */
export function readClosed(text: string | undefined): Set<string> {
  const parts = (text ?? '').split(',').filter((part) => part !== '');
  return new Set(
    parts.map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        // Somebody has changed the address: it is no path of this session.
        return part;
      }
    }),
  );
}

/** Writes closed paths as an address keeps them. */
export function printClosed(closed: ReadonlySet<string>): string {
  return [...closed].map((path) => encodeURIComponent(path.toWellFormed())).join(',');
}
