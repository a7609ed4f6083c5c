/** What a client's test expects of the record of a call. */
import type { Test } from 'tap';

/** How an answer came about, as the API tells it of a record. */
export type Delivery = {
  attempts: { provider: string; model: string; status: number; error_code: string | null }[];
  error_code: string | null;
  truncated: boolean;
  stream: boolean;
};

/** What these tests read of a request record. */
export type LoggedRequest = {
  request_id: string;
  request_path: string;
  request_model: string | null;
  request_body: { messages?: { content?: string }[]; [field: string]: unknown };
  provider: string;
  response_status: number;
  response_body: {
    choices?: { message: { content: string | null; tool_calls?: unknown[] } }[];
    [field: string]: unknown;
  };
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  time_to_first_token: number | null;
  delay_ms: number | null;
  cost: number | null;
  delivery: Delivery;
};

/** The models that these tests call: their prices are known, so that cost can be checked. */
export const MODEL = 'gpt-4o-mini';
export const CLAUDE = 'claude-haiku-4-5';
export const EMBEDDER = 'text-embedding-3-small';

/** USD for a million tokens, by the makers' price lists. */
const PRICES = {
  [MODEL]: { prompt: 0.15, completion: 0.6 },
  [CLAUDE]: { prompt: 1, completion: 5 },
  [EMBEDDER]: { prompt: 0.02, completion: 0 },
  'gpt-3.5-turbo-instruct': { prompt: 1.5, completion: 2 },
};

/** Where a call is answered, and for what. */
export type Place = { path: string; provider: string; model: keyof typeof PRICES };

export const CHAT_PLACE: Place = { path: '/v1/chat/completions', provider: 'OPENAI', model: MODEL };
export const RESPONSES_PLACE: Place = { path: '/v1/responses', provider: 'OPENAI', model: MODEL };
export const MESSAGES_PLACE: Place = { path: '/v1/messages', provider: 'ANTHROPIC', model: CLAUDE };
export const EMBEDDINGS_PLACE: Place = { path: '/v1/embeddings', provider: 'OPENAI', model: EMBEDDER };

/** What a call costs, in USD. */
function costOf(promptTokens: number, completionTokens: number, model: keyof typeof PRICES = MODEL): number {
  const { prompt, completion } = PRICES[model];
  return Number(((promptTokens * prompt + completionTokens * completion) / 1e6).toFixed(9));
}

/** The record is of a whole answer, with the tokens that the client was told, their price, and where it was given. */
export function checkTokens(
  t: Test,
  record: LoggedRequest | undefined,
  usage: { prompt: number | undefined; completion: number | undefined },
  { path, provider, model }: Place = CHAT_PLACE,
): void {
  const { prompt = Number.NaN, completion = Number.NaN } = usage;
  t.match(record, {
    request_path: path,
    provider,
    response_status: 200,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    cost: costOf(prompt, completion, model),
    delivery: { truncated: false, error_code: null },
  });
}

/** The record is of a failure that the provider told, in one piece. */
export function checkFailure(
  t: Test,
  record: LoggedRequest | undefined,
  status: number,
  { path, provider }: Place = CHAT_PLACE,
): void {
  t.match(record, {
    request_path: path,
    provider,
    response_status: status,
    total_tokens: null,
    cost: null,
    delivery: { truncated: false },
  });
}
