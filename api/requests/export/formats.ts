/** The two forms of an export: how each record is written. */
import type { ExportBody } from '#core/contracts/export.ts';
import {
  type BodyRow,
  fieldTexts,
  type RecordRow,
  recordFields,
  recordWriter,
} from '#platform/records/mod.ts';
import { csvCell, csvLine } from './csv.ts';

/** A form of export. */
export type RecordFormat = {
  contentType: string;
  /** The text before the first record. */
  head: string;
  /** Writes a record with its line end. `body` is null in an export without bodies. */
  write(row: RecordRow, body: BodyRow | null): string;
};

type FormatOptions = Pick<ExportBody, 'format' | 'bodies' | 'includeInputs' | 'includeExpected' | 'after'>;

/** Returns the form that an export asks for. The table of an export that goes on has no second head. */
export function recordFormat({
  format,
  bodies = false,
  includeInputs = false,
  includeExpected = false,
  after,
}: FormatOptions): RecordFormat {
  const fields = recordFields({ bodies, includeInputs, includeExpected });
  if (format === 'ndjson') {
    const write = recordWriter(fields);
    return {
      contentType: 'application/x-ndjson',
      head: '',
      write: (row, body) => `${write(row, body)}\n`,
    };
  }
  return {
    contentType: 'text/csv; charset=utf-8',
    head: after === undefined ? csvLine(fields) : '',
    write: (row, body) => csvLine(fieldTexts(fields, row, body).map(csvCell)),
  };
}
