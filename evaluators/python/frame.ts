/**
 * What goes between the service and a child: frames, each with its length before it (four bytes, the highest first). A
 * job is JSON; an answer has the shape that evaluation.py packs. An answer is data from an untrusted program.
 */

export type Job =
  | { task: 'compile'; code: string }
  | { task: 'evaluate'; code: string; input: string; output: string }
  /** Then records, one at a time, once the child has answered `loaded`. */
  | { task: 'many'; code: string };

export type TextPair = { input: string; output: string };

/** Why an evaluation failed, as a child can tell itself. */
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

export type Answer = { /** What was printed. */ traces: string } & (
  | { kind: 'loaded' }
  /** The score is finite. */
  | { kind: 'score'; score: number }
  | {
      kind: 'failure';
      code: ChildFailureCode;
      message: string;
      /** From 1. */
      line: number | null;
      column: number | null;
    }
);

export const LENGTH_BYTES = 4;
/** 16 KB of what was printed, 500 characters of message, and the head. */
export const MAX_ANSWER_BYTES = 20 * 1024;
const HEAD_BYTES = 21;
const LOADED = 0;
const SCORE = 1;
const FAILURE = 2;

const utf8 = new TextDecoder();

/** Lone surrogates arrive in Python as they are here: JSON escapes them. */
export function encodeFrame(value: Job | TextPair): Buffer {
  const text = JSON.stringify(value);
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

/** Reads an answer, without its length; null when it is none. */
export function decodeAnswer(bytes: Buffer): Answer | null {
  if (bytes.length < HEAD_BYTES) return null;
  const codeEnd = HEAD_BYTES + bytes.readUInt16BE(17);
  const messageEnd = codeEnd + bytes.readUInt16BE(19);
  if (messageEnd > bytes.length) return null;
  const traces = utf8.decode(bytes.subarray(messageEnd));
  switch (bytes[0]) {
    case LOADED:
      return { kind: 'loaded', traces };
    case SCORE: {
      // Of the two zeros there is one: no -0 gets into a database.
      const score = bytes.readDoubleBE(1) + 0;
      return Number.isFinite(score) ? { kind: 'score', score, traces } : null;
    }
    case FAILURE: {
      const code = utf8.decode(bytes.subarray(HEAD_BYTES, codeEnd));
      const message = utf8.decode(bytes.subarray(codeEnd, messageEnd));
      const line = positive(bytes.readInt32BE(9));
      const column = positive(bytes.readInt32BE(13));
      return isFailureCode(code) ? { kind: 'failure', code, message, line, column, traces } : null;
    }
    default:
      return null;
  }
}
