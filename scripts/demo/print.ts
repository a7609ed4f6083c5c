/** Formatting of the demo's output in a terminal. */
import { styleText } from 'node:util';
import type { RequestRecord } from './api.ts';
import { formatTable } from './format-table.ts';

export function say(text = ''): void {
  process.stdout.write(`${text}\n`);
}

export function heading(text: string): void {
  say(`\n${styleText('bold', text)}`);
}

export function quiet(text: string): void {
  say(styleText('dim', text));
}

/** Prints a request in the form of a command. */
export function showRequest(method: string, path: string, body: unknown): void {
  say(`${styleText('cyan', `${method} ${path}`)}  ${JSON.stringify(body)}`);
}

function orDash(value: number | string | null): string {
  return value === null ? '–' : String(value);
}

function describeProperties(properties: Record<string, string>): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

function cells(record: RequestRecord): string[] {
  return [
    record.request_id.slice(-6),
    String(record.response_status),
    record.model,
    orDash(record.request_user_id),
    orDash(record.delay_ms),
    orDash(record.time_to_first_token),
    `${orDash(record.prompt_tokens)} + ${orDash(record.completion_tokens)}`,
    record.cost === null ? '–' : record.cost.toFixed(7),
    describeProperties(record.properties),
  ];
}

const HEAD = ['id', 'status', 'model', 'user', 'ms', 'first token', 'tokens', 'cost, USD', 'properties'];

/** Prints records as a small table. */
export function showRecords(records: readonly RequestRecord[]): void {
  const table = formatTable([HEAD, ...records.map(cells)]);
  say(table.replaceAll(/^/gm, '  '));
}
