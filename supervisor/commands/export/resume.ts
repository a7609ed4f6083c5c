import { type FileHandle, open } from 'node:fs/promises';
import { type ExportFormat, RecordEnds } from './record-ends.ts';

/** The key of a record, as an export takes it. */
export type Cursor = { request_created_at: string; request_id: string };

/** Where an export goes on in its file. */
export type Resumption = {
  /** Bytes of the whole records; what is behind them was cut. */
  bytes: number;
  /** Whole records. */
  records: number;
  /** Null: there are none. */
  after: Cursor | null;
};

/** An export that begins its file. */
export const FROM_THE_BEGINNING: Resumption = { bytes: 0, records: 0, after: null };
const READ_BYTES = 1024 * 1024;

/**
 * Finds where an export goes on in a file that an earlier one has written; at its beginning when there is none.
 * @throws Error when the file is no export of this form
 */
export async function findResumption(path: string, format: ExportFormat): Promise<Resumption> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return FROM_THE_BEGINNING;
    throw error;
  }
  try {
    return await readResumption(file, format);
  } finally {
    await file.close();
  }
}

async function readResumption(file: FileHandle, format: ExportFormat): Promise<Resumption> {
  const ends = new RecordEnds(format);
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) break;
    ends.push(buffer.subarray(0, bytesRead));
  }
  const records = format === 'csv' ? Math.max(0, ends.count - 1) : ends.count;
  if (records === 0) return FROM_THE_BEGINNING;
  const last = Buffer.alloc(ends.end - ends.previousEnd);
  await file.read(last, 0, last.length, ends.previousEnd);
  const after = format === 'csv' ? cursorOfRow(last.toString()) : cursorOfLine(last.toString());
  if (after === null) throw new Error(`The file is no export as ${format}: its last record has no id`);
  return { bytes: ends.end, records, after };
}

function cursorOfLine(line: string): Cursor | null {
  let record: Partial<Cursor> | null;
  try {
    record = JSON.parse(line);
  } catch {
    return null;
  }
  return cursorOf(record?.request_id, record?.request_created_at);
}

/** The first two cells are the id and the time, neither of which needs quotes. */
function cursorOfRow(row: string): Cursor | null {
  const [id, time] = row.split(',', 2);
  return cursorOf(id, time);
}

function cursorOf(id: unknown, time: unknown): Cursor | null {
  if (typeof id !== 'string' || id === '' || typeof time !== 'string' || Number.isNaN(Date.parse(time)))
    return null;
  return { request_created_at: time, request_id: id };
}
