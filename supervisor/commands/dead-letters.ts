import { isUtf8 } from 'node:buffer';
import { Command } from 'commander';
import { requireOrganization } from '#platform/keys/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import type { RunCommand } from './keys.ts';
import { limitOption } from './options.ts';
import { table } from './table.ts';

type LetterBase = { createdAt: Date; organization: string | null; requestId: string | null; reason: string };

type RetryOptions = { begin?(work: (tx: TransactionSql) => Promise<boolean>): Promise<boolean> };

/** The functions of ingest that these commands and the API need; only ingest knows how entries are stored. */
export type DeadLetterStore = {
  /** Returns the newest dead letters and their total number. */
  listDeadLetters(
    sql: Sql,
    wanted: { organizationId: string | null; limit: number },
  ): Promise<{ letters: (LetterBase & { id: string; bytes: number })[]; total: number }>;
  /** Returns one dead letter; `entry` is null when `bytes` are not a log entry. */
  findDeadLetter(
    sql: Sql,
    id: string,
  ): Promise<
    | (LetterBase & {
        origin: string;
        bytes: Buffer;
        entry: { head: Uint8Array; requestBody: Uint8Array; responseBody: Uint8Array } | null;
      })
    | null
  >;
  /** Returns null when there is no such dead letter; `refused` is null when it was stored. */
  retryDeadLetter(sql: Sql, id: string, options?: RetryOptions): Promise<{ refused: string | null } | null>;
  retryAllDeadLetters(sql: Sql): Promise<{ stored: number; refused: number }>;
  /** Drops one dead letter, or all when `id` is null. Returns the number dropped. */
  dropDeadLetters(sql: Sql, id: string | null): Promise<number>;
};

const LARGEST_ID = 2n ** 63n - 1n;
const LONGEST_REASON_IN_LIST = 120;

/** Returns the given id, or null for `--all`. */
function idOrAll(id: string | undefined, { all = false }: { all?: boolean }): string | null {
  if (all === (id !== undefined)) throw new Error('Give the id of one dead letter, or --all');
  return id === undefined ? null : checkId(id);
}

function checkId(id: string): string {
  if (/^\d{1,19}$/.test(id) && BigInt(id) <= LARGEST_ID) return id;
  throw new Error(`"${id}" is not the id of a dead letter: \`dead-letters list\` shows them`);
}

function noLetter(id: string): Error {
  return new Error(`There is no dead letter ${id}`);
}

function letters(count: number): string {
  return count === 1 ? '1 dead letter' : `${count} dead letters`;
}

/** Puts untrusted text on one line and removes control characters, which a terminal would interpret. */
function plain(text: string | null): string {
  return (text ?? '').replace(/\p{Cc}+/gu, ' ');
}

function short(reason: string): string {
  const line = plain(reason);
  return line.length <= LONGEST_REASON_IN_LIST ? line : `${line.slice(0, LONGEST_REASON_IN_LIST)}…`;
}

async function list(
  store: DeadLetterStore,
  sql: Sql,
  { organization, limit }: { organization?: string; limit: number },
): Promise<string> {
  const owner = organization === undefined ? null : await requireOrganization(sql, organization);
  const found = await store.listDeadLetters(sql, { organizationId: owner?.organizationId ?? null, limit });
  if (found.total === 0) return 'There are no dead letters';
  const shown = table(
    ['ID', 'TIME', 'ORGANIZATION', 'REQUEST ID', 'BYTES', 'REASON'],
    found.letters.map((letter) => [
      letter.id,
      letter.createdAt.toISOString(),
      plain(letter.organization),
      plain(letter.requestId),
      String(letter.bytes),
      short(letter.reason),
    ]),
  );
  if (found.letters.length >= found.total) return shown;
  return `${shown}\n\nThese are the newest ${found.letters.length} of ${letters(found.total)}; --limit shows more`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: finds the characters that a terminal would interpret
const UNSHOWABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** Formats bytes under a title: as text when they are UTF-8 that a terminal can show, else as base64. */
function part(title: string, bytes: Uint8Array, layOut = (text: string) => text): string {
  const given = Buffer.from(bytes);
  const text = isUtf8(bytes) ? given.toString('utf8') : null;
  if (text !== null && !UNSHOWABLE.test(text)) return `${title} (${bytes.length} bytes)\n${layOut(text)}`;
  return `${title} (${bytes.length} bytes, in base64)\n${given.toString('base64')}`;
}

/** Pretty-prints JSON; other text is returned unchanged. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function show(store: DeadLetterStore, sql: Sql, id: string): Promise<string> {
  const letter = await store.findDeadLetter(sql, id);
  if (letter === null) throw noLetter(id);
  const summary = [
    `Dead letter ${id}`,
    `time          ${letter.createdAt.toISOString()}`,
    `organization  ${plain(letter.organization)}`,
    `request id    ${plain(letter.requestId)}`,
    `origin        ${plain(letter.origin)}`,
    `reason        ${plain(letter.reason)}`,
  ].map((line) => line.trimEnd());
  const { entry } = letter;
  const parts =
    entry === null
      ? [part('bytes that are no entry', letter.bytes)]
      : [
          part('head', entry.head, pretty),
          part('request body', entry.requestBody),
          part('response body', entry.responseBody),
        ];
  return [summary.join('\n'), ...parts].join('\n\n');
}

async function retry(store: DeadLetterStore, sql: Sql, id: string | null): Promise<string> {
  if (id === null) {
    const { stored, refused } = await store.retryAllDeadLetters(sql);
    if (refused === 0) return `Stored ${letters(stored)}`;
    throw new Error(`Stored ${letters(stored)}; ${refused} refused again, and kept with the new reason`);
  }
  const retried = await store.retryDeadLetter(sql, id);
  if (retried === null) throw noLetter(id);
  if (retried.refused !== null) throw new Error(`Dead letter ${id} is kept: ${plain(retried.refused)}`);
  return `Stored dead letter ${id}`;
}

async function drop(store: DeadLetterStore, sql: Sql, id: string | null): Promise<string> {
  const count = await store.dropDeadLetters(sql, id);
  if (id !== null && count === 0) throw noLetter(id);
  return `Dropped ${letters(count)}`;
}

/**
 * `dead-letters list | show | retry | drop`
 * @param load called when one of them runs, so that other commands do not load ingest's code
 */
export function deadLettersCommand(run: RunCommand, load: () => Promise<DeadLetterStore>): Command {
  const commands = new Command('dead-letters').description('see to log entries that could not be stored');
  commands
    .command('list')
    .description('list dead letters, newest first')
    .option('--organization <name>', 'those of this organization')
    .addOption(limitOption)
    .action((options: { organization?: string; limit: number }) =>
      run(async (sql) => list(await load(), sql, options)),
    );
  commands
    .command('show <id>')
    .description('show the reason and the whole entry')
    .action(async (text: string) => {
      const id = checkId(text);
      await run(async (sql) => show(await load(), sql, id));
    });
  commands
    .command('retry [id]')
    .description('store the entry again, and remove the letter when that succeeds')
    .option('--all', 'all of them')
    .action(async (text: string | undefined, options: { all?: boolean }) => {
      const id = idOrAll(text, options);
      await run(async (sql) => retry(await load(), sql, id));
    });
  commands
    .command('drop [id]')
    .description('throw the letter and its entry away')
    .option('--all', 'all of them')
    .action(async (text: string | undefined, options: { all?: boolean }) => {
      const id = idOrAll(text, options);
      await run(async (sql) => drop(await load(), sql, id));
    });
  return commands;
}
