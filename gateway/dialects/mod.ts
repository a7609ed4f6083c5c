/**
 * The dialects: Anthropic's Messages, OpenAI's chat completions and its Responses. Each has readers and writers of requests, answers,
 * streams and errors, which meet in the form of conversation.ts. Pure. docs/guides/translation.md lists the fields.
 */

export { ChunkReader } from './chat/chunk-reader.ts';
export { ChunkWriter } from './chat/chunk-writer.ts';
export { readCompletion } from './chat/read-completion.ts';
export { readChatRequest } from './chat/read-request.ts';
export { writeCompletion } from './chat/write-completion.ts';
export { writeChatRequest } from './chat/write-request.ts';
export { ANSWER_TOOL, type AnswerEvent, type EventReader, type EventWriter } from './conversation.ts';
export { anthropicErrorType, errorStatus, toAnthropicError, toOpenAiError } from './errors.ts';
export { mayHaveForeignReasoning, withoutForeignReasoning } from './foreign-reasoning.ts';
export { MessageEventReader } from './messages/event-reader.ts';
export { MessageEventWriter } from './messages/event-writer.ts';
export { readMessage } from './messages/read-message.ts';
export { readMessagesRequest } from './messages/read-request.ts';
export { isMessageStopFrame } from './messages/stop-frame.ts';
export { writeMessage } from './messages/write-message.ts';
export { writeMessagesRequest } from './messages/write-request.ts';
export { ResponseEventReader } from './responses/event-reader.ts';
export { readResponse } from './responses/read-response.ts';
export { readInputTokens } from './responses/usage.ts';
export { writeCountRequest, writeResponsesRequest } from './responses/write-request.ts';
export { userOfMetadata } from './user-ids.ts';
