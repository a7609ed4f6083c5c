/** Markdown by way of its worker, which reads one text at a time and is ended when one takes too long. */
import { startWorker } from '../../workers/start.ts';
import { LONGEST_MARKDOWN, type MarkdownNode } from './nodes.ts';

/**
 * 64 KB of honest text take about 20 ms. Shorter, and a machine that is busy shows honest texts without their Markdown; longer,
 * and the texts behind a hostile one wait for as long.
 */
const DEADLINE_MS = 3_000;
/** The worker is loaded once. */
const START_MS = 10_000;
/** After so many texts that took too long, all are shown as they are. */
const MOST_FAILURES = 5;

let worker: Worker | null = null;
let failures = 0;
let queue: Promise<unknown> = Promise.resolve();

/** Waits for one message; null: none came in time, and the worker was ended. */
async function messageOf(from: Worker, withinMs: number): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const timer = setTimeout(resolve, withinMs, null);
  from.onmessage = ({ data }) => resolve(data);
  from.onerror = () => resolve(null);
  const message = await promise;
  clearTimeout(timer);
  if (message === null) {
    from.terminate();
    worker = null;
  }
  return message;
}

async function lex(text: string): Promise<MarkdownNode[] | null> {
  if (failures >= MOST_FAILURES) return null;
  if (worker === null) {
    worker = startWorker('markdown');
    if ((await messageOf(worker, START_MS)) === null) return null;
  }
  worker.postMessage(text);
  const nodes = (await messageOf(worker, DEADLINE_MS)) as MarkdownNode[] | null;
  if (nodes === null) failures += 1;
  return nodes;
}

/** Reads a text as Markdown; null: it is too long, or took too long, and is to be shown as it is. */
export async function lexMarkdown(text: string, signal: AbortSignal): Promise<MarkdownNode[] | null> {
  if (text.length > LONGEST_MARKDOWN) return null;
  const turn = queue.then(() => (signal.aborted ? null : lex(text)));
  queue = turn;
  return await turn;
}
