/** Cells and lines of comma-separated values (RFC 4180), from the JSON of each value. */

/** Characters that a spreadsheet takes for the beginning of a formula, or skips before one. */
const FORMULA = /^[=+\-@\t\r]/;
const QUOTED = /[",\r\n]/;

/**
 * Returns a value as a cell: null as an empty one, a text as it is, an object as its JSON. A text that a spreadsheet would
 * run as a formula gets a leading apostrophe; a number never does.
 * @param json the JSON text of the value
 */
export function csvCell(json: string): string {
  if (json === 'null') return '';
  if (!json.startsWith('"')) return QUOTED.test(json) ? quoted(json) : json;
  const text = JSON.parse(json) as string;
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(harmless) ? quoted(harmless) : harmless;
}

/** Returns a line of finished cells, with its end. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
