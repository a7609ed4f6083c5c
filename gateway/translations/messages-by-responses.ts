import {
  MessageEventWriter,
  ResponseEventReader,
  readMessagesRequest,
  readResponse,
  toAnthropicError,
  writeMessage,
  writeResponsesRequest,
} from '../dialects/mod.ts';
import { StreamTranslator } from './stream-translator.ts';
import type { Translation } from './translation.ts';

/** Anthropic's Messages answered by OpenAI's Responses. */
export const MESSAGES_BY_RESPONSES = {
  endpoint: 'responses',
  request: (body, model, row) =>
    writeResponsesRequest(readMessagesRequest(body), { ...row, model, provider: row.label }),
  answer: (response, { label }) => writeMessage(readResponse(response, label)),
  stream: ({ label, maxEventBytes }) =>
    new StreamTranslator(
      maxEventBytes,
      (emit) => new ResponseEventReader(emit, label),
      new MessageEventWriter(),
    ),
  error: toAnthropicError,
} as const satisfies Translation;
