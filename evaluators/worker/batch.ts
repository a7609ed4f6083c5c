/**
 * Puts what `map` makes of some elements, all at once, in their places among those that are results already.
 * @param map one result for each, in order
 */
export async function mapSome<Element, Result>(
  elements: readonly (Element | Result)[],
  isOpen: (element: Element | Result) => element is Element,
  map: (open: Element[]) => Promise<Result[]>,
): Promise<Result[]> {
  const open = elements.filter(isOpen);
  const results = open.length === 0 ? [] : await map(open);
  const inOrder = results.values();
  return elements.map((element) => (isOpen(element) ? inOrder.next().value! : element));
}
