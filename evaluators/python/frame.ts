/**
 * Frames between the service and a child, each preceded by its length (four bytes, big-endian). A job is JSON; an answer has
 * the layout that evaluation.py packs. An answer is data from an untrusted program.
 */

/** A job for a child. */
export type ChildJob =
  | { task: 'compile'; code: string }
  | { task: 'evaluate'; code: string; input: string; output: string; labels: boolean }
  /** Records follow, one at a time, once the child has answered `loaded`. `labels`: a label may take the place of a score. */
  | { task: 'many'; code: string; labels: boolean };

/** The texts of one record, which every evaluation is sent. */
export type TextPair = { input: string; output: string };

/** The record that a child is sent after the texts if its code takes it whole, as JSON texts. */
export type WholeRecord = {
  requestText: string;
  responseText: string;
  /** JSON of an object. */
  inputs: string;
  /** JSON; null or absent: not known. */
  expected?: string | null;
  /** JSON of the whole session, for an evaluator of sessions; absent: a request is evaluated by itself. */
  session?: string;
};

/** One record to evaluate. Without `record`, code that takes it gets null bodies and no inputs. */
export type PythonRecord = TextPair & { record?: WholeRecord };

/** Error codes that a child itself can report. */
const FAILURE_CODES = [
  'py_syntax_error',
  'py_no_function',
  'py_bad_signature',
  'py_bad_return_type',
  'py_not_finite',
  'py_exception',
  'py_memory',
] as const;
export type ChildFailureCode = (typeof FAILURE_CODES)[number];

/** A decoded answer. */
export type ChildAnswer = {
  /** Printed output. */ traces: string;
} /** `takesRecord`: the code waits for the frame of the whole record, for a batch behind the texts of each record. */ & (
  | { kind: 'loaded'; takesRecord: boolean }
  /** The score is finite; null: the label decides it. A text that the code did not return is null. */
  | { kind: 'score'; score: number | null; label: string | null; reasoning: string | null }
  | {
      kind: 'failure';
      code: ChildFailureCode;
      message: string;
      /** Counted from 1. */
      line: number | null;
      column: number | null;
    }
);

/** Bytes of the length that precedes each frame. */
export const LENGTH_BYTES = 4;
/** Room for 16 KB of printed output, a label of 500 characters, 4,100 bytes of reasoning, and the head. */
export const MAX_ANSWER_BYTES = 24 * 1024;
const HEAD_BYTES = 21;
const LOADED = 0;
const SCORE = 1;
const FAILURE = 2;
const TAKES_RECORD = 3;
const LABEL = 4;

const utf8 = new TextDecoder();

/** Encodes a frame. JSON escapes lone surrogates, so that Python receives them unchanged. */
export function encodeFrame(value: ChildJob | TextPair): Buffer {
  return frameOf(JSON.stringify(value));
}

/**
 * Encodes the frame with the whole record. Its parts are JSON already and are copied as they are: parsing and writing
 * 8 MiB again would block the event loop, and long numbers would lose digits.
 */
export function encodeRecord({ requestText, responseText, inputs, expected, session }: WholeRecord): Buffer {
  const bodies = `"request":${requestText},"response":${responseText}`;
  const rest = `"inputs":${inputs},"expected":${expected ?? 'null'}`;
  const whole = session === undefined ? '' : `,"session":${session}`;
  return frameOf(`{${bodies},${rest}${whole}}`);
}

function frameOf(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + length);
  frame.writeUInt32BE(length);
  frame.write(text, LENGTH_BYTES);
  return frame;
}

const positive = (value: number) => (value > 0 ? value : null);

function isFailureCode(code: string): code is ChildFailureCode {
  return (FAILURE_CODES as readonly string[]).includes(code);
}

/** Decodes an answer, without its length; null when the bytes are not an answer. */
export function decodeAnswer(bytes: Buffer): ChildAnswer | null {
  if (bytes.length < HEAD_BYTES) return null;
  const firstEnd = HEAD_BYTES + bytes.readUInt16BE(17);
  const secondEnd = firstEnd + bytes.readUInt16BE(19);
  if (secondEnd > bytes.length) return null;
  const first = utf8.decode(bytes.subarray(HEAD_BYTES, firstEnd));
  const second = utf8.decode(bytes.subarray(firstEnd, secondEnd));
  const traces = utf8.decode(bytes.subarray(secondEnd));
  switch (bytes[0]) {
    case LOADED:
    case TAKES_RECORD:
      return { kind: 'loaded', takesRecord: bytes[0] === TAKES_RECORD, traces };
    case SCORE: {
      // Adding 0 turns -0 into 0, so that no -0 is stored.
      const score = bytes.readDoubleBE(1) + 0;
      if (!Number.isFinite(score)) return null;
      return { kind: 'score', score, label: first || null, reasoning: second || null, traces };
    }
    case LABEL:
      if (first === '') return null;
      return { kind: 'score', score: null, label: first, reasoning: second || null, traces };
    case FAILURE: {
      const line = positive(bytes.readInt32BE(9));
      const column = positive(bytes.readInt32BE(13));
      return isFailureCode(first)
        ? { kind: 'failure', code: first, message: second, line, column, traces }
        : null;
    }
    default:
      return null;
  }
}
