/**
 * What a scripted provider may do with one request. Everything that real providers were seen doing, and what networks
 * do to them.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** One request as it arrived. */
export type RecordedRequest = {
  method: string;
  /** Path and query as sent. */
  path: string;
  /** Names and values in turn, in the order and case sent. */
  rawHeaders: string[];
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** When the request's last byte had arrived, on `performance.now()`. */
  receivedAtMs: number;
  /** The caller hung up before the answer was complete. */
  aborted: boolean;
  /** When it did, on `performance.now()`. */
  abortedAtMs: number | null;
  /** Settles when the exchange is over, whoever ended it. */
  ended: Promise<void>;
};

export type ToolCall = {
  /** Default: `call_<index>`. */
  id?: string;
  name: string;
  /** JSON text, as the model would write it. */
  arguments: string;
};

export type Usage = {
  promptTokens: number;
  completionTokens: number;
  cachedTokens?: number;
  reasoningTokens?: number;
};

export type ContentEncoding = 'gzip' | 'deflate' | 'br' | 'zstd';

/** How bytes are cut into writes; each write is its own HTTP chunk, with a turn of the event loop between them. */
export type Chunking = {
  /** Bytes to a write; 1 sends them one at a time. */
  bytesEach?: number;
  /** Or: the offsets to cut at. */
  at?: readonly number[];
  /** Milliseconds between writes. */
  everyMs?: number;
};

/** `end`: as it should be. `cut`: the connection is closed. `stall`: nothing more comes, and it stays open. */
export type Ending = 'end' | 'cut' | 'stall';

/** What a completion says; shared by plain answers and streams. */
export type Completion = {
  /** Default: a sentence made of the request. */
  text?: string | null;
  toolCalls?: readonly ToolCall[];
  refusal?: string;
  finishReason?: string;
  /** Default: counted from request and answer by `countTokens`; null leaves it out. */
  usage?: Usage | null;
  /** The model answered; default: the one asked for. */
  model?: string;
  id?: string;
  /** Unknown members, put into the completion (or every chunk) as they are. */
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
  encoding?: ContentEncoding;
  /** Milliseconds before the headers. */
  delayMs?: number;
};

export type AnswerBehaviour = Completion & { kind: 'answer' };

export type StreamBehaviour = Omit<Completion, 'text'> & {
  kind: 'stream';
  /** Default: the words of the default text. */
  deltas?: readonly string[];
  /** Milliseconds between chunks. */
  everyMs?: number;
  /** `cut` and `stall` come after the last delta, before the finish reason. */
  ending?: Ending;
  /** Some servers never send `[DONE]`. */
  omitDone?: boolean;
  /** How the bytes of the stream are cut; default: one write to a frame. */
  chunking?: Chunking;
};

export type Behaviour =
  | AnswerBehaviour
  | StreamBehaviour
  /** Any JSON. */
  | { kind: 'json'; body: unknown; status?: number; headers?: Record<string, string> }
  /** An error in OpenAI's shape. `retry-after` and the like go into `headers`. */
  | {
      kind: 'error';
      status: number;
      message?: string;
      type?: string;
      code?: string | null;
      headers?: Record<string, string>;
      encoding?: ContentEncoding;
    }
  /** The page of a proxy that stands before the provider. */
  | { kind: 'html'; status: number; body?: string }
  /** Exactly these bytes under exactly these headers. `cut` and `stall` come after the last byte. */
  | {
      kind: 'bytes';
      body: Uint8Array | string;
      status?: number;
      headers?: Record<string, string>;
      chunking?: Chunking;
      ending?: Ending;
    }
  /** No headers, ever. */
  | { kind: 'hang' }
  /** The connection is closed: before the headers, or half-way through a body that has a content-length. */
  | { kind: 'cut'; at: 'headers' | 'body' }
  /** A content-length that is `by` bytes off: positive, the body ends too early; negative, it goes on after its end. */
  | { kind: 'wrong-length'; by: number }
  /** The connection is reset at once. For a port that nobody listens on, see `pause`. */
  | { kind: 'reset' }
  /** The request's own bytes, method, path and headers, as JSON; `body` is text, `bodyBase64` exact. */
  | { kind: 'echo' };

/** Chooses what to do with a request. */
export type Script = (request: RecordedRequest) => Behaviour | Promise<Behaviour>;
