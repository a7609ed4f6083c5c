/** Reads the items of a body, one at a time in turns of the event loop: a body may hold 32 MiB of them. */
import { MAX_ITEMS_OF_CALL } from '#core/contracts/dataset.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { arrayElements, type ReadItem, readItem } from '#core/datasets/mod.ts';
import { inTurns } from '#platform/process/turns.ts';

/**
 * @param written the JSON text of the array
 * @param split of items that name none
 * @throws AssayError invalid_body, which names the item by its index
 */
export async function readItems(written: Buffer, split: string | null): Promise<ReadItem[]> {
  const elements = arrayElements(written);
  const items: ReadItem[] = [];
  await inTurns(() => {
    const { done, value } = elements.next();
    if (done === true) return true;
    if (items.length === MAX_ITEMS_OF_CALL)
      throw invalidField('items', `must hold at most ${MAX_ITEMS_OF_CALL} items: import takes more`);
    const whole = `items.${items.length}`;
    items.push(readItem(value, { whole, prefix: `${whole}.` }, split));
    return false;
  });
  return items;
}
