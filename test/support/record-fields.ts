import { RequestRecord } from '#core/schema/record.ts';

/** The fields that every record has, in order. */
export const requestRecordFields = Object.keys(RequestRecord.properties).filter((name) => name !== 'inputs');
