/**
 * What a filter means, in plain JavaScript: written from the contract, for a record as a caller sees it. Shares nothing
 * with core/filter, and does not try to be quick.
 */

/** A record by what filters can ask for; null or absent is missing. Money and counts as decimal text, to be exact. */
export type OracleRecord = {
  request: Record<string, Scalar>;
  response: Record<string, Scalar>;
  feedback: Record<string, Scalar>;
  /** By name as sent. */
  properties: Record<string, string>;
  scores: Record<string, number>;
  requestBody: unknown;
  responseBody: unknown;
  inputs: Record<string, unknown>;
};

export type Decimal = { decimal: string };
export type Moment = { ms: number };
export type Scalar = string | boolean | Decimal | Moment | null;

export type JsonLeaf = Record<string, Record<string, Record<string, unknown>>>;
export type JsonFilter =
  | 'all'
  | JsonLeaf
  | { left: JsonFilter; operator: 'and' | 'or'; right: JsonFilter }
  | Record<string, never>;

/** Text as the store keeps it: NUL and lone surrogates are U+FFFD. */
export function asStored(text: string): string {
  return [...text]
    .map((point) => {
      const code = point.codePointAt(0)!;
      return code === 0 || (code >= 0xd800 && code <= 0xdfff) ? '\ufffd' : point;
    })
    .join('');
}

/** Lower case, one code point at a time and for one code point (İ has no single one in JavaScript's mapping). */
function fold(text: string): string {
  return [...text].map((point) => (point === 'İ' ? 'i' : point.toLowerCase())).join('');
}

/** SQL's `like`: `%` any run, `_` any one character, `\` takes the next as it is. */
function isLike(text: string, pattern: string): boolean {
  const characters = [...text];
  const parts: ('any' | 'one' | { is: string })[] = [];
  const given = [...pattern];
  for (let index = 0; index < given.length; index += 1) {
    const point = given[index]!;
    if (point === '%') parts.push('any');
    else if (point === '_') parts.push('one');
    else if (point === '\\') parts.push({ is: given[++index]! });
    else parts.push({ is: point });
  }
  let reachable = new Set([0]);
  for (const part of parts) {
    const next = new Set<number>();
    for (const at of reachable) {
      if (part === 'any') for (let end = at; end <= characters.length; end += 1) next.add(end);
      else if (at < characters.length && (part === 'one' || part.is === characters[at])) next.add(at + 1);
    }
    reachable = next;
  }
  return reachable.has(characters.length);
}

const POINT = 400;

/** A decimal as a whole number of 10^-400, which holds every double. */
function scaled(decimal: string): bigint {
  const [digits = '', exponent = '0'] = decimal.replace('-', '').split(/e/);
  const [whole = '', fraction = ''] = digits.split('.');
  const shift = POINT - fraction.length + Number(decimal.split('e')[1] ?? exponent);
  const size = BigInt(whole + fraction) * 10n ** BigInt(Math.max(shift, 0));
  return decimal.startsWith('-') ? -size : size;
}

function order(left: bigint | number, right: bigint | number, operator: string): boolean {
  switch (operator) {
    case 'gt':
      return left > right;
    case 'gte':
      return left >= right;
    case 'lt':
      return left < right;
    case 'lte':
      return left <= right;
    default:
      return left === right;
  }
}

/** Milliseconds of an operand: a number of them, or RFC 3339, cut to milliseconds. */
function momentOf(operand: unknown): number {
  if (typeof operand === 'number') return Math.floor(operand);
  const text = String(operand)
    .replace(/(\.\d{3})\d+/, '$1')
    .toUpperCase();
  return new Date(text).getTime();
}

function holdsPositive(value: Scalar, operator: string, operand: unknown): boolean {
  if (operand === null) return value === null;
  if (value === null) return false;
  if (typeof value === 'boolean') return value === operand;
  if (typeof value === 'object') {
    if ('ms' in value) return order(value.ms, momentOf(operand), operator);
    return typeof operand === 'number' && order(scaled(value.decimal), scaled(String(operand)), operator);
  }
  if (typeof operand !== 'string') return false;
  const wanted = asStored(operand);
  switch (operator) {
    case 'contains':
      return fold(value).includes(fold(wanted));
    case 'like':
      return isLike(value, wanted);
    case 'ilike':
      return isLike(fold(value), fold(wanted));
    default:
      return value === wanted;
  }
}

function holds(value: Scalar, operator: string, operand: unknown): boolean {
  return operator.startsWith('not-')
    ? !holdsPositive(value, operator.slice('not-'.length), operand)
    : holdsPositive(value, operator, operand);
}

/** Down a dotted path: names in objects, whole numbers from 0 in arrays. */
function follow(body: unknown, path: string): unknown {
  let node = body;
  for (const segment of path.split('.').map(asStored)) {
    if (Array.isArray(node)) node = /^(0|[1-9]\d*)$/.test(segment) ? node[Number(segment)] : undefined;
    else if (typeof node === 'object' && node !== null && Object.hasOwn(node, segment)) {
      node = (node as Record<string, unknown>)[segment];
    } else return undefined;
  }
  return node;
}

/** A JSON value to compare with an operand: present to null whatever its type, else only in the operand's own type. */
function comparable(node: unknown, operand: unknown): Scalar {
  if (node === undefined || node === null) return null;
  if (operand === null) return true;
  if (typeof node !== typeof operand) return null;
  if (typeof node === 'number') return { decimal: String(node) };
  return typeof node === 'string' || typeof node === 'boolean' ? node : null;
}

function readValue(record: OracleRecord, section: string, field: string, operand: unknown): Scalar {
  switch (section) {
    case 'request':
    case 'response':
    case 'feedback':
      return record[section][field] ?? null;
    case 'properties': {
      const wanted = asStored(field).toLowerCase();
      return Object.entries(record.properties).find(([name]) => name.toLowerCase() === wanted)?.[1] ?? null;
    }
    case 'scores': {
      const key = asStored(field);
      return Object.hasOwn(record.scores, key) ? { decimal: String(record.scores[key]) } : null;
    }
    default: {
      if (field.startsWith('request.'))
        return comparable(follow(record.requestBody, field.slice(8)), operand);
      if (field.startsWith('response.'))
        return comparable(follow(record.responseBody, field.slice(9)), operand);
      const name = asStored(field);
      return comparable(Object.hasOwn(record.inputs, name) ? record.inputs[name] : undefined, operand);
    }
  }
}

/** Whether `record` passes `filter`. */
export function passes(record: OracleRecord, filter: JsonFilter): boolean {
  if (filter === 'all') return true;
  if ('left' in filter) {
    const { left, operator, right } = filter as { left: JsonFilter; operator: string; right: JsonFilter };
    return operator === 'and'
      ? passes(record, left) && passes(record, right)
      : passes(record, left) || passes(record, right);
  }
  for (const [section, fields] of Object.entries(filter as JsonLeaf)) {
    for (const [field, operators] of Object.entries(fields)) {
      for (const [operator, operand] of Object.entries(operators)) {
        return holds(readValue(record, section, field, operand), operator, operand);
      }
    }
  }
  return true;
}

/** The filter that is true exactly where this one is false; null where that passes nothing: of all. */
export function complement(filter: JsonFilter): JsonFilter | null {
  if (filter === 'all' || Object.keys(filter).length === 0) return null;
  if ('left' in filter) {
    const { left, operator, right } = filter as { left: JsonFilter; operator: string; right: JsonFilter };
    const [notLeft, notRight] = [complement(left), complement(right)];
    if (notLeft === null || notRight === null) return null;
    return { left: notLeft, operator: operator === 'and' ? 'or' : 'and', right: notRight };
  }
  const [[section, fields]] = Object.entries(filter as JsonLeaf) as [[string, JsonLeaf[string]]];
  const [[field, operators]] = Object.entries(fields) as [[string, Record<string, unknown>]];
  const [[operator, operand]] = Object.entries(operators) as [[string, unknown]];
  const opposite = operator.startsWith('not-') ? operator.slice('not-'.length) : `not-${operator}`;
  return { [section]: Object.fromEntries([[field, { [opposite]: operand }]]) };
}
