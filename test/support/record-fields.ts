import { RequestRecord } from '#core/contracts/record.ts';

/** The fields that every record has, in order. */
export const requestRecordFields = Object.keys(RequestRecord.properties).filter(
  (name) => name !== 'inputs' && name !== 'expected',
);
