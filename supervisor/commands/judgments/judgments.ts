/**
 * `npm start -- judgments import`: imports judgments that were made elsewhere from a file, one a line, through the API. A line
 * may hold the request itself, which is logged first. Running it again stores nothing twice.
 */
import { createReadStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { IMPORT_OUTCOMES, type ImportedJson, type ImportOutcome } from '#core/contracts/judgment.ts';
import { clientOf, errorOf, type Post } from '../api-client.ts';
import { type BatchLine, batchesOf } from './batches.ts';
import { linesOf } from './lines.ts';
import { logRequests } from './log-requests.ts';

/** The parts of its process that the command needs. */
export type JudgmentsEnvironment = {
  /** The API's address, and the key; null: it must be given. */
  url: string;
  key: string | null;
  progress: { write(text: string): unknown };
  print(line: string): void;
};

type Options = { evaluator: string; url?: string };

/** The largest line: a request with its answer, as the API takes them. */
const MAX_LINE_BYTES = 33 * 1024 * 1024;
/** Seconds for which a request that was logged a moment ago is waited for. */
const PATIENCE_S = 60;
/** Problems that are shown, each on a line. */
const SHOWN_PROBLEMS = 20;

/** `judgments import <file>` */
export function judgmentsCommand(environment: () => JudgmentsEnvironment): Command {
  const judgments = new Command('judgments').description('bring in judgments that were made elsewhere');
  judgments
    .command('import <file>')
    .description('import a file of JSON lines for an evaluator; the key is read from ASSAY_API_KEY')
    .requiredOption('--evaluator <id or name>', 'the evaluator that they are judgments of')
    .option('--url <url>', 'the address of the API')
    .action((file: string, options: Options) => importFile(file, options, environment()));
  return judgments;
}

async function importFile(file: string, options: Options, environment: JudgmentsEnvironment): Promise<void> {
  if (environment.key === null) throw new Error('Set ASSAY_API_KEY to a key with the scopes read and write');
  const post = clientOf(options.url ?? environment.url, environment.key);
  const path = `/v1/evaluator/${await findEvaluator(post, options.evaluator)}/evaluations`;
  const tally = createTally(environment);
  for await (const batch of batchesOf(linesOf(createReadStream(file), MAX_LINE_BYTES))) {
    for (const { number, problem } of batch.unreadable) tally.add(number, 'invalid', problem);
    const failed = await logRequests(post, batch.lines);
    for (const [{ number }, problem] of failed) tally.add(number, 'invalid', problem);
    await importBatch(
      post,
      path,
      batch.lines.filter((line) => !failed.has(line)),
      tally,
    );
  }
  tally.end();
}

/** Returns the id of the evaluator with this id or name. */
async function findEvaluator(post: Post, wanted: string): Promise<string> {
  const answer = await post('/v1/evaluator/query', {});
  if (!answer.ok) throw new Error(await errorOf(answer));
  const { data } = (await answer.json()) as { data: { id: string; name: string }[] };
  const found = data.find(({ id, name }) => id === wanted.toLowerCase() || name === wanted);
  if (found === undefined) throw new Error(`There is no evaluator with the id or the name "${wanted}"`);
  return found.id;
}

type Tally = ReturnType<typeof createTally>;

function createTally({ progress, print }: JudgmentsEnvironment) {
  const counts = new Map<ImportOutcome, number>(IMPORT_OUTCOMES.map((name) => [name, 0]));
  let shown = 0;
  const of = (name: ImportOutcome) => counts.get(name)!;
  return {
    add(number: number, name: ImportOutcome, problem: string | null): void {
      counts.set(name, of(name) + 1);
      if (name === 'stored' || name === 'duplicate') return;
      shown += 1;
      if (shown <= SHOWN_PROBLEMS) progress.write(`Line ${number}: ${problem ?? name}\n`);
    },
    end(): void {
      const problems = of('unknown_request') + of('not_stored_yet') + of('invalid');
      const total = `${of('stored')} judgments stored, ${of('duplicate')} were there already`;
      if (problems === 0) {
        print(total);
        return;
      }
      throw new Error(
        `${total}; ${of('unknown_request')} of unknown requests, ${of('not_stored_yet')} of requests that are not stored yet, ${of('invalid')} invalid`,
      );
    },
  };
}

const SENTENCES: Partial<Record<ImportOutcome, string>> = {
  unknown_request: 'There is no such request',
  not_stored_yet: 'The request is logged and not stored yet: run the command again later',
};

/** Imports the lines of a batch; those whose requests are on their way are sent again, a second later. */
async function importBatch(post: Post, path: string, lines: BatchLine[], tally: Tally): Promise<void> {
  let left = lines;
  for (let second = 0; left.length > 0; second += 1) {
    const answer = await post(path, `{"evaluations":[${left.map(({ judgment }) => judgment).join(',')}]}`);
    if (!answer.ok)
      throw new Error(`${await errorOf(answer)}; what was stored stays, and the command can be run again`);
    const { data } = (await answer.json()) as { data: ImportedJson };
    const waiting: BatchLine[] = [];
    for (const [index, line] of left.entries()) {
      const { outcome, error } = data.results[index]!;
      if (outcome === 'not_stored_yet' && second < PATIENCE_S) waiting.push(line);
      else tally.add(line.number, outcome, error ?? SENTENCES[outcome] ?? null);
    }
    left = waiting;
    if (left.length > 0) await sleep(1_000);
  }
}
