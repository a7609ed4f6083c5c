/** Keys of a tree, as the ARIA practices have them. */

/** Items that can be seen, in order: members are in the document only while their item is open. */
function itemsOf(tree: Element): HTMLElement[] {
  return [...tree.querySelectorAll<HTMLElement>('[role="treeitem"]')];
}

function toggle(item: HTMLElement): void {
  item.querySelector<HTMLElement>('[data-json-toggle] .json-arrow')?.click();
}

/** Moves the focus, opens and closes. The item with the focus is the only one that Tab reaches. */
export function moveInTree(event: KeyboardEvent): void {
  const tree = event.currentTarget as HTMLElement;
  const item = event.target as HTMLElement;
  if (item.getAttribute('role') !== 'treeitem' || event.ctrlKey || event.metaKey || event.altKey) return;
  const items = itemsOf(tree);
  const at = items.indexOf(item);
  const isOpen = item.getAttribute('aria-expanded') === 'true';
  const above = item.parentElement?.closest<HTMLElement>('[role="treeitem"]') ?? null;
  const go = (to: HTMLElement | null | undefined) => {
    if (to === null || to === undefined) return;
    for (const one of items) one.tabIndex = one === to ? 0 : -1;
    to.focus();
  };
  const moves: Record<string, () => void> = {
    ArrowDown: () => go(items[at + 1]),
    ArrowUp: () => go(items[at - 1]),
    Home: () => go(items[0]),
    End: () => go(items.at(-1)),
    ArrowRight: () => (isOpen ? go(items[at + 1]) : item.hasAttribute('aria-expanded') && toggle(item)),
    ArrowLeft: () => (isOpen ? toggle(item) : go(above)),
    ' ': () => item.hasAttribute('aria-expanded') && toggle(item),
  };
  if (!Object.hasOwn(moves, event.key)) return;
  event.preventDefault();
  moves[event.key]!();
}
