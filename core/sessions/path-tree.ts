/** A place in a tree of session paths, with what is there. */
export type PathNode<Item> = { name: string; path: string; items: Item[]; children: PathNode<Item>[] };

/** Deeper parts of a path stay together in one name: readers of the JSON have limits of their own. */
const MAX_DEPTH = 64;

/**
 * Builds the tree of items by their paths (`/agent/plan`), whose order it keeps. Empty parts count for nothing, so that `agent/` is
 * `/agent`; an item without a path is at the root.
 */
export function pathTree<Item>(
  items: readonly Item[],
  pathOf: (item: Item) => string | null,
): PathNode<Item> {
  const root: PathNode<Item> = { name: '', path: '/', items: [], children: [] };
  const nodes = new Map([[root.path, root]]);
  for (const item of items) nodeAt(root, nodes, partsOf(pathOf(item))).items.push(item);
  return root;
}

function partsOf(path: string | null): string[] {
  const parts = (path ?? '').split('/').filter((part) => part !== '');
  if (parts.length <= MAX_DEPTH) return parts;
  return [...parts.slice(0, MAX_DEPTH - 1), parts.slice(MAX_DEPTH - 1).join('/')];
}

function nodeAt<Item>(
  root: PathNode<Item>,
  nodes: Map<string, PathNode<Item>>,
  parts: readonly string[],
): PathNode<Item> {
  let node = root;
  let path = '';
  for (const name of parts) {
    path += `/${name}`;
    let child = nodes.get(path);
    if (child === undefined) {
      child = { name, path, items: [], children: [] };
      nodes.set(path, child);
      node.children.push(child);
    }
    node = child;
  }
  return node;
}
