/** Records in Postgres: the statements that read them by key, and their JSON as all APIs show it. */
export {
  fieldTexts,
  mergeProperties,
  recordFields,
  recordWriter,
} from './record-json.ts';
export {
  BODY_BYTES,
  type BodyRow,
  bindKeys,
  bodiesStatement,
  type Included,
  NOTHING_MORE,
  type RecordRow,
  recordColumns,
  recordsStatement,
} from './records.ts';
export { oldestRequestMs, type Page, TimeSlices } from './time-slices.ts';
