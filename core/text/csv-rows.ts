/** Comma-separated values (RFC 4180), read a row at a time. */

/** A row with the number of its first line, from 1. */
export type CsvRow = { line: number; cells: string[] };

/** The text breaks a rule of the format at a line. */
export class CsvFault extends Error {
  readonly line: number;

  constructor(line: number, rule: string) {
    super(rule);
    this.name = 'CsvFault';
    this.line = line;
  }
}

/** Cells of a row: a table has tens, and a row is read in one go. */
const MAX_CELLS = 1_000;

/** The end of a cell without quotation marks. */
const CELL_END = /[,\r\n]/g;

/**
 * Yields the rows of a text; empty lines are none. Lines end with CR LF, LF or CR.
 * @throws CsvFault
 */
export function* csvRows(text: string): Generator<CsvRow, void> {
  let at = 0;
  let line = 1;
  while (at < text.length) {
    const row: CsvRow = { line, cells: [] };
    for (;;) {
      const cell = text[at] === '"' ? quotedCell(text, at, line) : plainCell(text, at);
      if (row.cells.length === MAX_CELLS) throw new CsvFault(line, `has more than ${MAX_CELLS} cells`);
      row.cells.push(cell.value);
      line += cell.breaks;
      at = cell.end;
      if (text[at] !== ',') break;
      at += 1;
    }
    if (at < text.length && text[at] !== '\r' && text[at] !== '\n')
      throw new CsvFault(line, 'has text behind the end of a quoted cell');
    at += text.startsWith('\r\n', at) ? 2 : 1;
    line += 1;
    if (row.cells.length > 1 || row.cells[0] !== '') yield row;
  }
}

type Cell = { value: string; end: number /** Line breaks within it. */; breaks: number };

function plainCell(text: string, from: number): Cell {
  CELL_END.lastIndex = from;
  const end = CELL_END.exec(text)?.index ?? text.length;
  return { value: text.slice(from, end), end, breaks: 0 };
}

function quotedCell(text: string, from: number, line: number): Cell {
  let end = text.indexOf('"', from + 1);
  while (end !== -1 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  if (end === -1) throw new CsvFault(line, 'begins a quoted cell that has no end');
  const value = text.slice(from + 1, end).replaceAll('""', '"');
  return { value, end: end + 1, breaks: value.match(/\r\n|\r|\n/g)?.length ?? 0 };
}
