/** Writes the JSON of an item from a row of CSV. */
import { isObject } from '../json/mod.ts';

/** The columns that a row may have, beside those that begin with `metadata.`. */
const TEXTS: ReadonlyMap<string, string> = new Map([
  ['id', 'id'],
  ['external_id', 'externalId'],
  ['split', 'split'],
  ['cluster', 'cluster'],
  ['source_request_id', 'sourceRequestId'],
]);
const OTHERS = ['request', 'messages', 'input', 'expected', 'metadata'];
const METADATA = 'metadata.';
const REQUESTS = ['request', 'messages', 'input'];

/** Returns why columns cannot be read, as the rest of a sentence about them; null: they can. */
export function columnsFault(columns: readonly string[]): string | null {
  const unknown = columns.find(
    (name) => !TEXTS.has(name) && !OTHERS.includes(name) && !name.startsWith(METADATA),
  );
  if (unknown !== undefined)
    return `has the column ${JSON.stringify(unknown.slice(0, 80))}, which is none of ${[...OTHERS, ...TEXTS.keys()].join(', ')}, metadata.*: map it`;
  const seen = new Set<string>();
  const repeated = columns.find((name) => seen.size === seen.add(name).size);
  if (repeated !== undefined) return `has the column ${JSON.stringify(repeated.slice(0, 80))} twice`;
  if (columns.filter((name) => REQUESTS.includes(name)).length !== 1)
    return 'must have exactly one column of request, messages, input';
  return null;
}

/** A cell that must be JSON, and is none. */
export class CellFault extends Error {}

/**
 * Returns the JSON of an item. An empty cell is a member that is not there. `expected` is JSON where the cell is an object, an
 * array or a string of JSON, otherwise the text itself.
 * @throws CellFault
 */
export function csvItem(columns: readonly string[], cells: readonly string[]): string {
  const members: string[] = [];
  const metadata: string[] = [];
  columns.forEach((name, index) => {
    const cell = cells[index] ?? '';
    if (cell === '') return;
    if (name.startsWith(METADATA))
      metadata.push(`${JSON.stringify(name.slice(METADATA.length))}:${JSON.stringify(cell)}`);
    else if (name === 'request') members.push(`"request":${json(name, cell)}`);
    else if (name === 'messages') members.push(`"request":{"messages":${json(name, cell)}}`);
    else if (name === 'input')
      members.push(`"request":{"messages":[{"role":"user","content":${JSON.stringify(cell)}}]}`);
    else if (name === 'expected')
      members.push(`"expected":${isComposite(cell) ? cell : JSON.stringify(cell)}`);
    else if (name === 'metadata') metadata.push(...innerMembers(cell));
    else members.push(`${JSON.stringify(TEXTS.get(name))}:${JSON.stringify(cell)}`);
  });
  if (metadata.length > 0) members.push(`"metadata":{${metadata.join(',')}}`);
  return `{${members.join(',')}}`;
}

function parsed(cell: string): unknown {
  try {
    return JSON.parse(cell);
  } catch {
    return undefined;
  }
}

function json(name: string, cell: string): string {
  if (parsed(cell) === undefined) throw new CellFault(`${name} must be JSON`);
  return cell;
}

function isComposite(cell: string): boolean {
  const value = /^\s*[[{"]/.test(cell) ? parsed(cell) : undefined;
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}

/** Returns the members of an object of JSON, as they are written. */
function innerMembers(cell: string): string[] {
  const text = json('metadata', cell).trim();
  if (!isObject(parsed(text))) throw new CellFault('metadata must be an object of JSON');
  const inner = text.slice(1, -1).trim();
  return inner === '' ? [] : [inner];
}
