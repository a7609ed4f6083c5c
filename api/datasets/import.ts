/** Reads files of items: JSON Lines and CSV, in turns of the event loop. */
import { MAX_ITEMS } from '#core/contracts/dataset.ts';
import type { ImportBody } from '#core/contracts/dataset-sources.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import {
  CellFault,
  columnsFault,
  csvItem,
  invalidItem,
  type ReadItem,
  readItem,
} from '#core/datasets/mod.ts';
import { CsvFault, csvRows } from '#core/text/mod.ts';
import { inTurns } from '#platform/process/turns.ts';

/** The JSON of an item, and the line of the file where it begins. */
type Line = { line: number; text: string };

const placeOf = (line: number) => ({ whole: `Line ${line}`, prefix: `Line ${line}: ` });

/**
 * @param split of items that name none
 * @throws AssayError invalid_body, which names the line
 */
export async function readFile(body: ImportBody, split: string | null): Promise<ReadItem[]> {
  if (body.format === 'jsonl' && body.mapping !== undefined)
    throw invalidField('mapping', 'belongs to the format csv');
  const lines = body.format === 'jsonl' ? jsonLines(body.text) : csvLines(body);
  const items: ReadItem[] = [];
  await inTurns(() => {
    const { done, value } = lines.next();
    if (done === true) return true;
    if (items.length === MAX_ITEMS)
      throw invalidItem(placeOf(value.line), '', `is behind the ${MAX_ITEMS} items that a dataset can have`);
    items.push(readItem(Buffer.from(value.text), placeOf(value.line), split));
    return false;
  });
  return items;
}

/** Yields the lines that are not empty. */
function* jsonLines(text: string): Generator<Line, void> {
  let line = 1;
  // A byte order mark is no part of the first line.
  for (let from = text.startsWith('\ufeff') ? 1 : 0; from < text.length; line += 1) {
    const end = text.indexOf('\n', from);
    const one = text.slice(from, end === -1 ? undefined : end).trim();
    if (one !== '') yield { line, text: one };
    from = end === -1 ? text.length : end + 1;
  }
}

function* csvLines({ text, mapping }: ImportBody): Generator<Line, void> {
  const names = new Map(Object.entries(mapping?.columns ?? {}));
  let columns: string[] | null = null;
  try {
    for (const { line, cells } of csvRows(text.startsWith('\ufeff') ? text.slice(1) : text)) {
      if (columns === null) {
        const named = new Set(cells);
        const absent = [...names.keys()].find((name) => !named.has(name));
        if (absent !== undefined)
          throw invalidField(
            'mapping.columns',
            `names ${JSON.stringify(absent)}, which is no column of the file`,
          );
        columns = cells.map((name) => names.get(name) ?? name);
        const fault = columnsFault(columns);
        if (fault !== null) throw invalidItem(placeOf(line), '', fault);
        continue;
      }
      if (cells.length > columns.length)
        throw invalidItem(
          placeOf(line),
          '',
          `has ${cells.length} cells, but the first line names ${columns.length} columns`,
        );
      yield { line, text: itemText(line, columns, cells) };
    }
  } catch (error) {
    if (error instanceof CsvFault) throw invalidItem(placeOf(error.line), '', error.message);
    throw error;
  }
}

function itemText(line: number, columns: readonly string[], cells: readonly string[]): string {
  try {
    return csvItem(columns, cells);
  } catch (error) {
    if (error instanceof CellFault) throw new AssayError('invalid_body', `Line ${line}: ${error.message}`);
    throw error;
  }
}
