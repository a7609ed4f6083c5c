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
  type FirstRecordRow,
  firstRecordsStatement,
  type Included,
  type RecordRow,
  ROW_BYTES,
  recordColumns,
  recordsStatement,
} from './records.ts';
