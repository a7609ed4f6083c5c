/**
 * Requests, answers and streamed events in a form between the dialects. OpenAI's chat completions and Responses and Anthropic's
 * Messages are each read into it and written from it, so that a field has one meaning in all directions.
 */
import type { JsonObject } from '#core/json/mod.ts';
import type { RawDelta } from './raw-delta.ts';

/** A breakpoint of Anthropic's prompt cache, unchanged: `{type: 'ephemeral', ttl?}`. */
export type CacheControl = JsonObject | null;

export type TextPart = { type: 'text'; text: string; cacheControl: CacheControl };

/** Bytes in base64, their URL, or (documents only) plain text. */
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

/** Thinking, signed by the model's maker: it may only be sent back unchanged, and to the same maker. */
export type ThinkingPart =
  | { type: 'thinking'; text: string; signature: string }
  | { type: 'redacted_thinking'; data: string };

export type ToolCallPart = {
  type: 'tool_call';
  id: string;
  name: string;
  /** A JSON object. Numbers that a double cannot hold are raw JSON, so that they are written unchanged. */
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
  /** JSON schema of the input, unchanged; null when the caller gave none. */
  schema: JsonObject | null;
  strict: boolean;
  cacheControl: CacheControl;
};

export type ToolChoice = { type: 'auto' | 'required' | 'none' } | { type: 'tool'; name: string };

/** The form that the answer's text must have. */
export type AnswerFormat =
  | { type: 'json_object' }
  | { type: 'json_schema'; description: string | null; schema: JsonObject; strict: boolean };

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** A request. Null: the caller did not set the field. */
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
  /** Anthropic's `thinking`, unchanged. */
  thinking: JsonObject | null;
  answerFormat: AnswerFormat | null;
  /** True: never the faster capacity that costs more. */
  standardTierOnly: boolean;
  cacheControl: CacheControl;
};

/** Token counts of an answer that do not overlap: the three kinds of input add up to the prompt. */
export type TokenUsage = {
  inputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** The part of `cacheWriteTokens` that is kept for an hour, which costs more. */
  cacheWriteHourTokens: number;
  outputTokens: number;
  /** The part of `outputTokens` that was reasoning; null when the provider does not say. */
  reasoningTokens: number | null;
  /** Circumstances on which prices depend: members of `usage`, in either dialect. */
  service: Service;
};

/**
 * OpenAI's tier of service, by a name of ours, Anthropic's speed and place of inference, and what OpenRouter says that the call cost, in
 * dollars; what is not there was as usual.
 */
export type Service = { cost?: number; openai_service_tier?: string; speed?: string; inference_geo?: string };

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Why an answer ended. */
export type Stop = {
  finish: FinishReason;
  /** The provider's own reason; null when it gave none. */
  native: string | null;
  /** The stop sequence that was met. */
  sequence: string | null;
  /** The provider's explanation of a refusal. */
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
 * An event of a streamed answer. `literal` is text as a JSON string with its quotes, copied unchanged from one dialect's
 * event into the other's. `call` is the index of a tool call, from 0.
 */
export type StreamedEvent =
  | { type: 'start'; id: string; model: string; usage: TokenUsage | null }
  | { type: 'text'; literal: string }
  /** The end of a text that another may follow; only dialects whose answers have several say so. */
  | { type: 'text_end' }
  | { type: 'thinking'; literal: string }
  | { type: 'thinking_end'; part: ThinkingPart }
  | { type: 'tool_call'; call: number; id: string; name: string }
  | { type: 'tool_arguments'; call: number; literal: string }
  | { type: 'stop'; stop: Stop }
  | { type: 'error'; error: AnswerError };

/** The last event of a stream that succeeded. */
export type EndEvent = { type: 'end'; usage: TokenUsage | null };

export type AnswerEvent = StreamedEvent | EndEvent;

/** Reads one dialect's stream, and emits its events to the function that it was made with. */
export type EventReader = {
  /** Reads a whole frame that is a delta of known bytes, without parsing it; null: `read` has to take it. */
  readRaw(frame: Buffer): RawDelta | null;
  /** Reads a whole frame. @throws SyntaxError when its data is not JSON */
  read(frame: string): void;
  /** Ends the stream when the connection closes; emits the end when only the last event is missing. */
  end(): void;
};

/** Writes one dialect's stream. */
export type EventWriter = {
  /** Returns the frames of an event; empty: none. */
  write(event: StreamedEvent): string;
  /** Returns the frames of a delta whose text is still in the provider's frame. */
  writeRaw(delta: RawDelta, frame: Buffer): Buffer;
  /** Returns the frames of the end; the client waits for the last of them. */
  writeEnd(usage: TokenUsage | null): string[];
};

/** A provider's error in the middle of a stream. */
export type AnswerError = { type: string; message: string };

/** The tool whose input is the answer, for models that can be held to JSON in no other way. */
export const ANSWER_TOOL = 'answer_in_json';
