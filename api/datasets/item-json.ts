import type { ItemRow } from './item-store.ts';

/** Returns an item as JSON text, in the form in which it can be sent: its stored texts are not parsed. */
export function itemText(row: ItemRow): string {
  if (row.is_erased) return JSON.stringify({ id: row.item_id, erased: true });
  const head = {
    id: row.item_id,
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
  };
  const tail = {
    ...(row.split === null ? {} : { split: row.split }),
    ...(row.cluster === null ? {} : { cluster: row.cluster }),
    ...(row.source_request_id === null ? {} : { sourceRequestId: row.source_request_id }),
  };
  const rest = JSON.stringify(tail).slice(1, -1);
  return (
    `${JSON.stringify(head).slice(0, -1)},"request":${row.request}` +
    `${row.expected === null ? '' : `,"expected":${row.expected}`},"metadata":${row.metadata}` +
    `${rest === '' ? '' : `,${rest}`}}`
  );
}
