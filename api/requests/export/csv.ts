/** Cells and lines of comma-separated values (RFC 4180), from the JSON of each value. */

/** What a spreadsheet takes for the beginning of a formula, or skips before one; Asian versions take full-width signs, too. */
const FORMULA = /^[=+\-@＝＋－＠\t\r\n]/;
/**
 * A separator or line break within a text, and a formula behind it. A spreadsheet that separates cells by semicolons or tabs
 * knows a quotation mark at the beginning of its own cells only, so there another cell begins, quoted or not.
 */
const FORMULA_WITHIN = /([;\t\r\n])(?="*[=+\-@＝＋－＠])/g;
/** The same within JSON, which has no tabs and line breaks in its strings. */
const FORMULA_IN_JSON = /;([=+\-@＝＋－＠])/g;
const QUOTED = /[",;\t\r\n]/;

/**
 * Returns a value as a cell: null as an empty one, a text as it is, an object as its JSON. Before what a spreadsheet would run
 * as a formula, a text gets an apostrophe; a number never does. JSON gets an escape instead, which changes no value.
 * @param json the JSON text of the value
 */
export function csvCell(json: string): string {
  if (json === 'null') return '';
  if (!json.startsWith('"')) return QUOTED.test(json) ? quoted(json.replace(FORMULA_IN_JSON, escaped)) : json;
  const text = JSON.parse(json) as string;
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(harmless) ? quoted(harmless.replace(FORMULA_WITHIN, "$1'")) : harmless;
}

/** Returns a line of finished cells, with its end. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

function escaped(_: string, character: string): string {
  return `;\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
