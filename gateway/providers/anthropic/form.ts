/**
 * What both dialects say, in one form. OpenAI's chat completions and Anthropic's messages are each read into it and
 * written from it, so that a field is understood in one place and every pair of directions agrees.
 */
import type { JsonObject } from '#core/json/mod.ts';
import type { RawDelta } from './raw-delta.ts';

/** Anthropic's breakpoint of its prompt cache, as written: `{type: 'ephemeral', ttl?}`. */
export type CacheControl = JsonObject | null;

export type TextPart = { type: 'text'; text: string; cacheControl: CacheControl };

/** Bytes in base64, or where they are, or (documents only) plain text. */
export type MediaSource =
  | { type: 'base64'; mediaType: string; data: string }
  | { type: 'url'; url: string }
  | { type: 'text'; text: string };

export type ImagePart = { type: 'image'; source: MediaSource; cacheControl: CacheControl };
export type DocumentPart = {
  type: 'document';
  source: MediaSource;
  title: string | null;
  cacheControl: CacheControl;
};

/** Signed by the model's maker: only passed back whole, to the same maker. */
export type ThinkingPart =
  | { type: 'thinking'; text: string; signature: string }
  | { type: 'redacted_thinking'; data: string };

export type ToolCallPart = {
  type: 'tool_call';
  id: string;
  name: string;
  /** A JSON object. Numbers that a double cannot hold are raw JSON, so that they are written as they came. */
  input: JsonObject;
  cacheControl: CacheControl;
};

export type ToolResultPart = {
  type: 'tool_result';
  callId: string;
  content: (TextPart | ImagePart | DocumentPart)[];
  isError: boolean;
  cacheControl: CacheControl;
};

export type UserPart = TextPart | ImagePart | DocumentPart | ToolResultPart;
export type AssistantPart = TextPart | ThinkingPart | ToolCallPart;
export type Turn = { role: 'user'; parts: UserPart[] } | { role: 'assistant'; parts: AssistantPart[] };

export type Tool = {
  name: string;
  description: string | null;
  /** JSON schema of the input, kept whole; null when the caller gave none. */
  schema: JsonObject | null;
  strict: boolean;
  cacheControl: CacheControl;
};

export type ToolChoice = { type: 'auto' | 'required' | 'none' } | { type: 'tool'; name: string };

/** What text the answer must be. */
export type AnswerFormat =
  | { type: 'json_object' }
  | { type: 'json_schema'; description: string | null; schema: JsonObject; strict: boolean };

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** A request. Null: the caller did not say. */
export type Conversation = {
  system: TextPart[];
  turns: Turn[];
  tools: Tool[];
  toolChoice: ToolChoice | null;
  /** False: at most one tool call in an answer. */
  parallelToolCalls: boolean;
  maxTokens: number | null;
  temperature: number | null;
  topP: number | null;
  topK: number | null;
  stop: string[];
  stream: boolean;
  userId: string | null;
  effort: Effort | null;
  /** Anthropic's own setting of thinking, as written. */
  thinking: JsonObject | null;
  answerFormat: AnswerFormat | null;
  /** True: never the faster, dearer capacity. */
  standardTierOnly: boolean;
  cacheControl: CacheControl;
};

/** Tokens of an answer, none counted twice: the input's three kinds add up to the prompt. */
export type TokenUsage = {
  inputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
  /** The part of `outputTokens` that was reasoning; null when the provider does not say. */
  reasoningTokens: number | null;
};

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Why an answer ended. */
export type Stop = {
  finish: FinishReason;
  /** The provider's own word; null when it gave none. */
  native: string | null;
  /** The stop sequence that was met. */
  sequence: string | null;
  /** What the provider says of a refusal. */
  refusal: string | null;
};

export type Answer = {
  id: string;
  model: string;
  parts: AssistantPart[];
  stop: Stop;
  usage: TokenUsage | null;
};

/**
 * What happens in a streamed answer. `literal` is text as a JSON string with its quotes: it goes from one dialect's
 * event into the other's as it is. `call` counts tool calls from 0.
 */
export type StreamedEvent =
  | { type: 'start'; id: string; model: string; usage: TokenUsage | null }
  | { type: 'text'; literal: string }
  | { type: 'thinking'; literal: string }
  | { type: 'thinking_end'; part: ThinkingPart }
  | { type: 'tool_call'; call: number; id: string; name: string }
  | { type: 'tool_arguments'; call: number; literal: string }
  | { type: 'stop'; stop: Stop }
  | { type: 'error'; error: AnswerError };

/** The last of a stream that went well. */
export type EndEvent = { type: 'end'; usage: TokenUsage | null };

export type AnswerEvent = StreamedEvent | EndEvent;

/** Reads one dialect's stream, and tells what happens to the function it was made with. */
export type EventReader = {
  /** Takes a whole frame, when it is a delta that need not be parsed; null when it must be read. */
  readRaw(frame: Buffer): RawDelta | null;
  /** Takes a whole frame. @throws SyntaxError when its data is not JSON */
  read(frame: string): void;
  /** The connection closed: tells the end, when all but its last event had come. */
  end(): void;
};

/** Writes one dialect's stream. */
export type EventWriter = {
  write(event: StreamedEvent): string;
  /** The same for a delta whose text is still in the frame that it came in. */
  writeRaw(delta: RawDelta, frame: Buffer): Buffer;
  /** The frames of the end, the last of which a client waits for. */
  writeEnd(usage: TokenUsage | null): string[];
};

/** A provider's error in the middle of a stream. */
export type AnswerError = { type: string; message: string };

/** The tool whose input is the answer, where a model has no other way to be held to JSON. */
export const ANSWER_TOOL = 'answer_in_json';
