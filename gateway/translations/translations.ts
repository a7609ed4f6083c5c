/** All translations, and the choice of one for a call. */
import type { ProviderEndpoint } from '../providers/registry.ts';
import { REASONING_MODEL } from '../providers/registry.ts';
import type { Candidate } from '../providers/resolve.ts';
import { CHAT_BY_MESSAGES } from './chat-by-messages.ts';
import { COUNT_BY_INPUT_TOKENS } from './count-by-input-tokens.ts';
import { MESSAGES_BY_CHAT } from './messages-by-chat.ts';
import { MESSAGES_BY_RESPONSES } from './messages-by-responses.ts';
import type { Translation } from './translation.ts';

/** The translations by their names, which threads are told. */
export const TRANSLATIONS = {
  'chat by messages': CHAT_BY_MESSAGES,
  'messages by chat': MESSAGES_BY_CHAT,
  'messages by responses': MESSAGES_BY_RESPONSES,
  'count by input tokens': COUNT_BY_INPUT_TOKENS,
} as const satisfies Record<string, Translation>;

export type TranslationName = keyof typeof TRANSLATIONS;

/** Returns the translation of a call for a provider that lacks its endpoint; null when it has none that could answer. */
export function translationFor(
  endpoint: ProviderEndpoint,
  { row, model, paths }: Pick<Candidate, 'row' | 'model' | 'paths'>,
): TranslationName | null {
  switch (endpoint) {
    case 'chat':
      return paths.messages === undefined ? null : 'chat by messages';
    case 'messages':
      // In chat completions the newer ones refuse tools unless they are told not to reason, some are not there at all, and none goes on
      // from its reasoning of the turn before.
      if (row.reasonsInResponses && paths.responses !== undefined && REASONING_MODEL.test(model))
        return 'messages by responses';
      return paths.chat === undefined ? null : 'messages by chat';
    case 'countTokens':
      // Azure's Responses have no count, and those of a server of one's own may have none.
      return row.reasonsInResponses && paths.inputTokens !== undefined ? 'count by input tokens' : null;
    default:
      return null;
  }
}
