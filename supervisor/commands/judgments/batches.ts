/** Puts lines together to calls of the API. */
import { describeError } from '#core/contracts/errors.ts';
import { MAX_JUDGMENTS } from '#core/contracts/judgment.ts';
import { isObject, readMembers } from '#core/json/mod.ts';
import type { Line } from './lines.ts';

/** One judgment. */
export type BatchLine = {
  number: number;
  /** JSON, as the API takes it. */
  judgment: string;
  /** The body that logs its request, as it was written; null: the request is logged. */
  log: string | null;
};

export type Batch = { lines: BatchLine[]; unreadable: { number: number; problem: string }[] };

/** Bytes of the judgments of a call, of the 1 MiB that a body may have. */
const MAX_JUDGMENT_BYTES = 1_000_000;
/** Bytes of requests to log that are held at a time. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;

/** Yields lines in calls of as many as the API takes. */
export async function* batchesOf(lines: AsyncIterable<Line>): AsyncGenerator<Batch> {
  let batch: Batch = { lines: [], unreadable: [] };
  let [judged, logged] = [0, 0];
  for await (const line of lines) {
    const read = readLine(line);
    if (typeof read === 'string') {
      batch.unreadable.push({ number: line.number, problem: read });
      continue;
    }
    const bytes = Buffer.byteLength(read.judgment) + 1;
    if (
      batch.lines.length === MAX_JUDGMENTS ||
      judged + bytes > MAX_JUDGMENT_BYTES ||
      logged > MAX_LOG_BYTES
    ) {
      yield batch;
      batch = { lines: [], unreadable: [] };
      [judged, logged] = [0, 0];
    }
    batch.lines.push(read);
    judged += bytes;
    logged += read.log?.length ?? 0;
  }
  yield batch;
}

/** Returns a line's judgment, or why it is none. */
function readLine(line: Line): BatchLine | string {
  const read = readJudgment(line);
  if (typeof read === 'string' || Buffer.byteLength(read.judgment) < MAX_JUDGMENT_BYTES) return read;
  return `The judgment is longer than the ${MAX_JUDGMENT_BYTES} bytes allowed`;
}

function readJudgment({ number, text }: Line): BatchLine | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `This is not JSON: ${describeError(error)}`;
  }
  if (!isObject(value)) return 'A line must be an object';
  const [written] = readMembers(text, [['log']]).written;
  const { log, ...judgment } = value;
  if (log === undefined) return { number, judgment: text, log: null };
  if (!isObject(log) || typeof judgment.requestId !== 'string')
    return 'log must be an object that POST /v1/log/request takes, beside the requestId that it is to have';
  const id = `{"request_id":${JSON.stringify(judgment.requestId)}`;
  const rest = written!.slice(1).trimStart();
  return { number, judgment: JSON.stringify(judgment), log: `${id}${rest === '}' ? '' : ','}${rest}` };
}
