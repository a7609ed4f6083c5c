import t from 'tap';
import type { DatasetItem } from '#core/contracts/dataset.ts';
import { itemFaults, itemFields, itemOf } from '../../../../../dashboard/pages/dataset/item-fields.ts';

const ITEM: DatasetItem = {
  id: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  externalId: 'refund',
  request: { messages: [{ role: 'user', content: 'May I?' }] },
  expected: 'Yes',
  metadata: { source: 'desk' },
  split: 'test',
};

t.test('an item that is not edited is written as it was', async (t) => {
  t.same(itemOf(itemFields(ITEM), ITEM.id!), ITEM);
  for (const expected of [null, 5, { a: [1] }, '{"a": 1}', '']) {
    const item = { ...ITEM, expected };
    t.same(itemOf(itemFields(item), ITEM.id!), item, JSON.stringify(expected));
  }
  const { expected: _, ...without } = ITEM;
  t.same(itemOf(itemFields(without), ITEM.id!), without, 'nothing is expected');
});

t.test('numbers keep the digits that were written', async (t) => {
  const fields = {
    ...itemFields(null),
    request: '{"messages": [], "seed": 12345678901234567890}',
    expected: 'x',
  };
  t.match(JSON.stringify(itemOf(fields, null)), '"seed":12345678901234567890');
});

t.test('fields that are no JSON, or no object, are faults', async (t) => {
  const faults = (changes: object) => itemFaults({ ...itemFields(ITEM), ...changes });
  t.same(faults({}), { request: null, expected: null, metadata: null });
  t.match(faults({ request: '[1]', metadata: '1', expectedKind: 'json', expected: 'Yes' }), {
    request: /JSON object/,
    expected: /JSON/,
    metadata: /JSON object/,
  });
  t.match(faults({ request: '{' }), { request: /JSON object/ });
});
