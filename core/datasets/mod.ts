/** Items of datasets: reading them, and the hash of their content. */
export { arrayElements } from './array-elements.ts';
export { CellFault, columnsFault, csvItem } from './csv-item.ts';
export { hashItem, type ItemContent } from './item.ts';
export { invalidItem, type ReadItem, readItem } from './read-item.ts';
