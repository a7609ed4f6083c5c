/**
 * The certificate of a server, kept up to date: its files are checked every second, and a changed pair is used for new
 * connections. Open connections keep theirs.
 */
import { stat } from 'node:fs/promises';
import type { SecureContext } from 'node:tls';
import type { Logger } from '../observability/log.ts';
import { type CertificateFiles, readCertificate } from './certificate.ts';

export type KeptCertificate = {
  /** TLS context of the next connection. */
  readonly context: SecureContext;
  /** Checks the files. Changed files are read when two checks in a row found the same state. */
  check(): Promise<void>;
  stop(): void;
};

/**
 * Time between checks. A renewal writes two files, one after the other. Shorter, and a half-written pair is read and warned
 * of; longer, and an expiring certificate is replaced that much later.
 */
const CHECK_MS = 1_000;

/**
 * Reads the files, and reads them again when they change. Logs a warning for a pair that cannot be used, once, and keeps the
 * former one.
 * @throws Error with a sentence for the operator when the first pair cannot be used
 */
export async function keepCertificate(files: CertificateFiles, log: Logger): Promise<KeptCertificate> {
  let seen = await stateOf(files);
  let used = seen;
  const first = readCertificate(files);
  if ('problems' in first) throw new Error(first.problems.join('; '));
  let { context } = first;
  const check = async (): Promise<void> => {
    const state = await stateOf(files);
    const isSettled = state === seen;
    seen = state;
    if (!isSettled || state === used) return;
    used = state;
    const read = readCertificate(files);
    if ('problems' in read) {
      log.warn(
        { problems: read.problems },
        'The new TLS certificate cannot be used; the former one stays in use',
      );
      return;
    }
    context = read.context;
    log.info({ certFile: files.certFile }, 'New connections get the new TLS certificate');
  };
  const timer = setInterval(() => void check(), CHECK_MS);
  timer.unref();
  return {
    get context() {
      return context;
    },
    check,
    stop: () => clearInterval(timer),
  };
}

/** Returns a text that changes when one of the files is written, replaced, or reached through another link. */
async function stateOf({ certFile, keyFile }: CertificateFiles): Promise<string> {
  const states = [certFile, keyFile].map((path) =>
    stat(path).then(
      ({ ino, size, mtimeMs, ctimeMs }) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`,
      (error: NodeJS.ErrnoException) => error.code ?? 'unreadable',
    ),
  );
  return (await Promise.all(states)).join(' ');
}
