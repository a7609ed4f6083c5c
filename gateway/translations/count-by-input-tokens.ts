import {
  readInputTokens,
  readMessagesRequest,
  toAnthropicError,
  writeCountRequest,
} from '../dialects/mod.ts';
import type { Translation } from './translation.ts';

/** Anthropic's count of tokens answered by OpenAI's count for Responses. */
export const COUNT_BY_INPUT_TOKENS = {
  endpoint: 'inputTokens',
  // A count is a Messages request without its limit, which is written nowhere.
  request: (body, model, row) =>
    writeCountRequest(readMessagesRequest({ ...body, max_tokens: 1 }), {
      ...row,
      model,
      provider: row.label,
    }),
  answer: (count) => ({ input_tokens: readInputTokens(count) }),
  stream: null,
  error: toAnthropicError,
} as const satisfies Translation;
