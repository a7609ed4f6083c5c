/**
 * Translates Anthropic's Messages API and OpenAI's chat completions into each other, and Messages into OpenAI's Responses: requests,
 * answers, streams and errors. Pure. docs/guides/translation.md lists the fields.
 */

export { ANSWER_TOOL } from './conversation.ts';
export { anthropicErrorType, errorStatus, toAnthropicError, toOpenAiError } from './errors.ts';
export { mayHaveForeignReasoning, withoutForeignReasoning } from './foreign-reasoning.ts';
export { isMessageStopFrame } from './messages/stop-frame.ts';
export {
  CompletionStreamTranslator,
  MessagesStreamTranslator,
  ResponseStreamTranslator,
  StreamTranslator,
} from './stream.ts';
export {
  fromCompletion,
  fromCount,
  fromMessagesRequest,
  fromResponse,
  toCompletion,
  toCountRequest,
  toMessagesRequest,
  toResponsesRequest,
} from './translate.ts';
export { userOfMetadata } from './user-ids.ts';
