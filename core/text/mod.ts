/** Comparison and cutting of texts. Pure. */
export { CsvFault, csvRows } from './csv-rows.ts';
export { cutToBytes } from './cut-to-bytes.ts';
export { editDistance } from './edit-distance.ts';
export { nearest } from './nearest.ts';
