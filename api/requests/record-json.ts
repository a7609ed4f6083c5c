/**
 * Writes a record as JSON text. Bodies are inserted as their original text and never parsed: repeated names, long numbers
 * and odd escapes stay as they were sent, and 32 MiB cost one copy.
 */
import type { RequestRecord } from '#core/contracts/record.ts';
import { foldName } from '#core/contracts/storable-text.ts';
import { nanoToUsd } from './money.ts';
import type { BodyRow, RecordRow } from './records.ts';

/** The JSON of each field. A field that only the record's schema or only this type has is a compile error. */
type RecordTexts = { [Field in keyof RequestRecord]: string };

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

function propertiesText(row: RecordRow): string {
  if (row.properties_added === null) return compact(row.request_properties ?? '{}');
  const sent = JSON.parse(row.request_properties ?? '{}') as Properties;
  return JSON.stringify(mergeProperties(sent, JSON.parse(row.properties_added) as Properties));
}

function bodyText(text: string | null, raw: Buffer | null): string {
  return raw === null ? (text ?? '{}') : raw.toString('utf8');
}

/** Returns one record, its fields in the order of `RequestRecord`. */
export function recordText(row: RecordRow, body: BodyRow, options: { includeInputs: boolean }): string {
  const json = JSON.stringify;
  const values: RecordTexts = {
    request_id: json(row.request_id),
    request_created_at: json(row.created_at),
    request_body: bodyText(body.request_text, body.request_raw),
    request_path: json(row.path),
    request_user_id: json(row.user_id),
    request_properties: compact(row.request_properties),
    request_model: json(row.request_model),
    response_id: json(row.response_id),
    response_created_at: json(row.response_created_at),
    response_body: bodyText(body.response_text, body.response_raw),
    response_status: String(row.status),
    response_model: json(row.response_model),
    provider: json(row.provider),
    model: json(row.model),
    delay_ms: String(row.latency_ms),
    time_to_first_token: String(row.ttft_ms),
    total_tokens: String(row.total_tokens),
    prompt_tokens: String(row.prompt_tokens),
    completion_tokens: String(row.completion_tokens),
    cost: row.cost_nano === null ? 'null' : String(nanoToUsd(row.cost_nano)),
    prompt_id: json(row.prompt_id),
    prompt_version: json(row.prompt_version),
    feedback_rating: String(row.feedback_rating),
    scores: compact(row.scores),
    properties: propertiesText(row),
    ...(options.includeInputs ? { inputs: compact(row.inputs ?? '{}') } : {}),
  };
  const members: string[] = [];
  for (const name in values) members.push(`"${name}":${values[name as keyof RequestRecord]}`);
  return `{${members.join(',')}}`;
}
