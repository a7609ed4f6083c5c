/**
 * Writes a record as JSON text. Bodies are inserted as their original text and never parsed: repeated names, long numbers
 * and odd escapes stay as they were sent, and 32 MiB cost one copy.
 */
import { nanoToUsd } from '#core/contracts/money.ts';
import type { RequestRecord } from '#core/contracts/record.ts';
import { foldName } from '#core/contracts/storable-text.ts';
import { parseExactJson } from '#core/json/mod.ts';
import type { BodyRow, Included, RecordRow } from './records.ts';

type Properties = Record<string, string>;

/** Returns the properties sent and those added later; an added one replaces one whose name is equal ignoring case. */
export function mergeProperties(sent: Properties, added: Properties): Properties {
  const replaced = new Set(Object.keys(added).map(foldName));
  const merged: Properties = Object.create(null);
  for (const [name, value] of Object.entries(sent)) if (!replaced.has(foldName(name))) merged[name] = value;
  for (const [name, value] of Object.entries(added)) merged[name] = value;
  return merged;
}

/** Returns JSON without the spaces that Postgres puts in it. */
function compact(json: string | null): string {
  return json === null ? 'null' : JSON.stringify(JSON.parse(json));
}

/** Returns such JSON with the digits of its numbers: prompt variables hold ids of 64 bits. */
function withDigits(json: string): string {
  return JSON.stringify(parseExactJson(json));
}

function propertiesText(row: RecordRow): string {
  if (row.properties_added === null) return compact(row.request_properties ?? '{}');
  const sent = JSON.parse(row.request_properties ?? '{}') as Properties;
  return JSON.stringify(mergeProperties(sent, JSON.parse(row.properties_added) as Properties));
}

function bodyText(text: string | null, raw: Buffer | null): string {
  return raw === null ? (text ?? '{}') : raw.toString('utf8');
}

function timeText(time: Date | null): string {
  return time === null ? 'null' : `"${time.toISOString()}"`;
}

const json = JSON.stringify;

/** Writes a field of a record as JSON. `body` is null where bodies are left out. */
type WriteField = (row: RecordRow, body: BodyRow | null) => string;

/** The name of a field of a record. */
type RecordField = keyof RequestRecord;

/** A field that only the record's schema or only this table has is a compile error. */
const WRITERS: { readonly [Field in keyof Required<RequestRecord>]: WriteField } = {
  request_id: (row) => json(row.request_id),
  request_created_at: (row) => timeText(row.created_at),
  request_body: (_, body) => bodyText(body?.request_text ?? null, body?.request_raw ?? null),
  request_path: (row) => json(row.path),
  request_user_id: (row) => json(row.user_id),
  request_properties: (row) => compact(row.request_properties),
  request_model: (row) => json(row.request_model),
  response_id: (row) => json(row.response_id),
  response_created_at: (row) => timeText(row.response_created_at),
  response_body: (_, body) => bodyText(body?.response_text ?? null, body?.response_raw ?? null),
  response_status: (row) => String(row.status),
  response_model: (row) => json(row.response_model),
  provider: (row) => json(row.provider),
  model: (row) => json(row.model),
  delay_ms: (row) => String(row.latency_ms),
  time_to_first_token: (row) => String(row.ttft_ms),
  total_tokens: (row) => String(row.total_tokens),
  prompt_tokens: (row) => String(row.prompt_tokens),
  completion_tokens: (row) => String(row.completion_tokens),
  cost: (row) => (row.cost_nano === null ? 'null' : String(nanoToUsd(row.cost_nano))),
  prompt_id: (row) => json(row.prompt_id),
  prompt_version: (row) => json(row.prompt_version),
  feedback_rating: (row) => String(row.feedback_rating),
  scores: (row) => compact(row.scores),
  properties: propertiesText,
  inputs: (row, body) => withDigits(row.inputs ?? body?.inputs ?? '{}'),
  expected: (row, body) => row.expected ?? body?.expected ?? 'null',
};

/** Returns the fields of a record that are shown, in the order of `RequestRecord`. */
export function recordFields({
  bodies,
  includeInputs,
  includeExpected,
}: Included & { bodies: boolean }): RecordField[] {
  return (Object.keys(WRITERS) as RecordField[]).filter((name) => {
    if (name === 'request_body' || name === 'response_body') return bodies;
    if (name === 'expected') return includeExpected;
    return name !== 'inputs' || includeInputs;
  });
}

/** Returns the JSON of each of these fields of one record. */
export function fieldTexts(fields: readonly RecordField[], row: RecordRow, body: BodyRow | null): string[] {
  return fields.map((name) => WRITERS[name](row, body));
}

/** Writes one record as a JSON object. */
type WriteRecord = (row: RecordRow, body: BodyRow | null) => string;

/** Returns a function that writes records with these fields. */
export function recordWriter(fields: readonly RecordField[]): WriteRecord {
  const members = fields.map((name, index) => ({
    opening: `${index === 0 ? '{' : ','}"${name}":`,
    write: WRITERS[name],
  }));
  return (row, body) => {
    let text = '';
    for (const { opening, write } of members) text += opening + write(row, body);
    return `${text}}`;
  };
}
