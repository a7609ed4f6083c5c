/**
 * `npm start -- export`: writes the records of a filter to a file. It calls the management API like any client: the key
 * decides whose records they are, the API's limits hold, and it can run on another machine.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { describeError } from '#core/contracts/errors.ts';
import type { Clock } from '#platform/process/clock.ts';
import { clientOf, errorOf, type Post } from '../api-client.ts';
import { startProgress } from './progress.ts';
import { type ExportFormat, RecordEnds } from './record-ends.ts';
import { type Cursor, FROM_THE_BEGINNING, findResumption, type Resumption } from './resume.ts';

/** The parts of its process that the command needs. */
export type ExportEnvironment = {
  /** The API's address, and the key; null: it must be given. */
  url: string;
  key: string | null;
  clock: Clock;
  progress: { isTTY?: boolean; write(text: string): unknown };
  print(line: string): void;
};

type Options = {
  out: string;
  filter: unknown;
  query?: string;
  format: ExportFormat;
  bodies?: boolean;
  inputs?: boolean;
  after?: Cursor;
  resume?: boolean;
  url?: string;
};

/** Parses an option that holds JSON; `all` needs no quotes. */
function parseJson(text: string): unknown {
  if (text === 'all') return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`This is not JSON: ${text.slice(0, 80)}`);
  }
}

/** `export` */
export function exportCommand(environment: () => ExportEnvironment): Command {
  return new Command('export')
    .description('write the records of a filter to a file; the key is read from ASSAY_API_KEY')
    .requiredOption('--out <file>', 'the file to write')
    .option('--filter <json>', 'a filter, as docs/api/filters.md describes', parseJson, 'all')
    .addOption(
      new Option('--query <text>', 'the same as text, as docs/api/query-text.md describes').conflicts(
        'filter',
      ),
    )
    .addOption(new Option('--format <format>', 'the form').choices(['ndjson', 'csv']).default('ndjson'))
    .option('--bodies', 'with the bodies of requests and responses')
    .option('--inputs', 'with the prompt variables')
    .option('--after <json>', 'begin behind a record: {"request_created_at": …, "request_id": …}', parseJson)
    .option('--resume', 'go on behind the last whole record of the file')
    .option('--url <url>', 'the address of the API')
    .action((options: Options) => exportToFile(options, environment()));
}

/** Counts the records to come, for the progress; null when that takes the API too long. */
async function countRecords(post: Post, wanted: object): Promise<number | null> {
  const answer = await post('/v1/request/count/query', wanted);
  const { data } = (await answer.json()) as { data: number | null };
  return answer.ok ? data : null;
}

async function exportToFile(options: Options, environment: ExportEnvironment): Promise<void> {
  const { out, format, resume = false } = options;
  const { url = environment.url } = options;
  if (environment.key === null) throw new Error('Set ASSAY_API_KEY to a key with the scope read');
  const post = clientOf(url, environment.key);
  const begun = resume ? await findResumption(out, format) : FROM_THE_BEGINNING;
  const after = begun.after ?? options.after;
  const wanted = options.query === undefined ? { filter: options.filter } : { q: options.query };
  const answer = await post('/v1/request/export', {
    ...wanted,
    format,
    ...(options.bodies === true && { bodies: true }),
    ...(options.inputs === true && { includeInputs: true }),
    ...(after !== undefined && { after }),
  });
  if (!answer.ok) throw new Error(await errorOf(answer));
  const file = await openFile(out, answer, resume);
  try {
    await file.truncate(begun.bytes);
    const isShown = environment.progress.isTTY === true && options.after === undefined;
    const total = isShown ? await countRecords(post, wanted) : null;
    const head = format === 'csv' && after === undefined ? 1 : 0;
    const written = await writeAnswer(answer, file, { options, begun, head, total, environment });
    const behind = resume ? `, behind ${begun.records} that were there` : '';
    environment.print(`Exported ${written} records to ${out}${behind}`);
  } finally {
    await file.close();
  }
}

/** Opens a new file, or with `resume` one that may be there. */
async function openFile(path: string, answer: Response, resume: boolean): Promise<FileHandle> {
  try {
    return await open(path, resume ? 'a' : 'wx');
  } catch (error) {
    await answer.body?.cancel();
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
    throw new Error(`${path} exists: add --resume to go on behind its last record, or choose another name`);
  }
}

type Writing = {
  options: Options;
  begun: Resumption;
  /** Lines before the first record. */
  head: number;
  total: number | null;
  environment: ExportEnvironment;
};

/** Appends an answer to the file; returns the number of records. */
async function writeAnswer(answer: Response, file: FileHandle, writing: Writing): Promise<number> {
  const { options, begun, head, total, environment } = writing;
  const ends = new RecordEnds(options.format);
  const { clock, progress: stream } = environment;
  const progress = startProgress({ begun: begun.records, total, stream, now: () => clock.monotonic() });
  const records = () => Math.max(0, ends.count - head);
  try {
    for await (const piece of answer.body!) {
      await file.appendFile(piece);
      ends.push(piece);
      progress.update(begun.records + records());
    }
  } catch (error) {
    throw new Error(
      `The export was cut after ${records()} records (${describeError(error)}): run it again with --resume`,
    );
  } finally {
    progress.stop();
  }
  return records();
}
