/** A row of `assay.requests`, by column names, so that the insert needs no mapping of names. */
export type RequestRow = {
  organization_id: string;
  created_at: Date;
  request_id: string;
  api_key_id: string | null;
  source: string;
  path: string;
  provider: string;
  request_model: string | null;
  response_model: string | null;
  model: string;
  response_id: string | null;
  /** Null: the gateway was killed before the answer. */
  response_created_at: Date | null;
  status: number;
  latency_ms: number | null;
  ttft_ms: number | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  cost_nano: number | null;
  /** Cost that an answer from the cache saved; null for other answers. */
  cost_saved_nano: number | null;
  price_source: string | null;
  /** True when ingest counted the tokens, or some of them. */
  usage_estimated: boolean;
  user_id: string | null;
  session_id: string | null;
  session_path: string | null;
  session_name: string | null;
  prompt_id: string | null;
  prompt_version: string | null;
  /** JSON of an object, that Postgres can cast to jsonb. */
  inputs: string | null;
  experiment_id: string | null;
  /** JSON, as text. */
  expected: string | null;
  request_properties: string | null;
  properties_folded: string;
  is_stream: boolean;
  truncated: boolean;
  error_code: string | null;
  cached_from: string | null;
  /** A `StoredAttempt[]` as JSON; null for a single attempt by the model's name in the request. */
  attempts: string | null;
  /** The beginnings of question and answer; null: there was no text, or it was omitted. */
  preview_in: string | null;
  preview_out: string | null;
};

/** An attempt of a call, as it is stored. */
export type StoredAttempt = {
  provider: string;
  model: string;
  status: number;
  error_code: string | null;
  latency_ms: number;
};
