import {
  ChunkWriter,
  MessageEventReader,
  readChatRequest,
  readMessage,
  toOpenAiError,
  writeCompletion,
  writeMessagesRequest,
} from '../dialects/mod.ts';
import { StreamTranslator } from './stream-translator.ts';
import type { Translation } from './translation.ts';

/** Models that allow at most 4,096 tokens in a completion. */
const OLD_CLAUDE = /claude-(?:instant|2|3-(?:opus|sonnet|haiku))/;
const OLD_MAX_TOKENS = 4_096;
/** For calls without a limit of their own: Anthropic requires one. */
const DEFAULT_MAX_TOKENS = 8_192;

/** Chat completions answered by Anthropic's Messages. */
export const CHAT_BY_MESSAGES = {
  endpoint: 'messages',
  request: (body, model) => {
    const maxTokensDefault = OLD_CLAUDE.test(model) ? OLD_MAX_TOKENS : DEFAULT_MAX_TOKENS;
    return writeMessagesRequest(readChatRequest(body), { model, maxTokensDefault });
  },
  answer: (message, { created }) => writeCompletion(readMessage(message), created),
  stream: ({ created, maxEventBytes }) =>
    new StreamTranslator(maxEventBytes, (emit) => new MessageEventReader(emit), new ChunkWriter(created)),
  error: toOpenAiError,
} as const satisfies Translation;
