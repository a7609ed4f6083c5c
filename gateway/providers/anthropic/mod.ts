/**
 * Translates Anthropic's Messages API and OpenAI's chat completions into each other: requests, answers, streams and
 * errors. Pure. docs/guides/translation.md lists the fields.
 */

export { ANSWER_TOOL } from './conversation.ts';
export { anthropicErrorType, errorStatus, toAnthropicError, toOpenAiError } from './errors.ts';
export { isMessageStopFrame } from './messages/stop-frame.ts';
export { CompletionStreamTranslator, MessagesStreamTranslator, StreamTranslator } from './stream.ts';
export { fromCompletion, fromMessagesRequest, toCompletion, toMessagesRequest } from './translate.ts';
