import {
  ChunkReader,
  MessageEventWriter,
  readCompletion,
  readMessagesRequest,
  toAnthropicError,
  writeChatRequest,
  writeMessage,
} from '../dialects/mod.ts';
import { StreamTranslator } from './stream-translator.ts';
import type { Translation } from './translation.ts';

/** Anthropic's Messages answered by chat completions. */
export const MESSAGES_BY_CHAT = {
  endpoint: 'chat',
  request: (body, model, row) =>
    writeChatRequest(readMessagesRequest(body), { ...row, model, asksForUsage: row.takesUsageOption }),
  answer: (completion) => writeMessage(readCompletion(completion)),
  stream: ({ maxEventBytes }) =>
    new StreamTranslator(maxEventBytes, (emit) => new ChunkReader(emit), new MessageEventWriter()),
  error: toAnthropicError,
} as const satisfies Translation;
