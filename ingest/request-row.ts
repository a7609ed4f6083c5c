/** One request as the store takes it. Column names, so that the statement that inserts them needs no table of its own. */
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
  /** Null: no answer came, its gateway was killed. */
  response_created_at: Date | null;
  status: number;
  latency_ms: number | null;
  ttft_ms: number | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  cost_nano: number | null;
  price_source: string | null;
  /** The tokens, or some of them, were counted here. */
  usage_estimated: boolean;
  user_id: string | null;
  session_id: string | null;
  session_path: string | null;
  session_name: string | null;
  prompt_id: string | null;
  experiment_id: string | null;
  request_properties: string | null;
  properties_folded: string;
  is_stream: boolean;
  truncated: boolean;
  error_code: string | null;
  cached_from: string | null;
  /** A `StoredAttempt[]` as JSON; null when there was one, of the very model that the caller named. */
  attempts: string | null;
};

/** A try of a call as it is stored. */
export type StoredAttempt = {
  provider: string;
  model: string;
  status: number;
  error_code: string | null;
  latency_ms: number;
};
