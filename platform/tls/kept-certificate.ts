/**
 * The certificate that a server shows, kept up to date: its files are looked at every second, and a changed pair is used for
 * the connections that begin from then on. Those that are open keep what they have.
 */
import { stat } from 'node:fs/promises';
import type { SecureContext } from 'node:tls';
import type { Logger } from '../observability/log.ts';
import { type CertificateFiles, readCertificate } from './certificate.ts';

export type KeptCertificate = {
  /** For the next connection. */
  readonly context: SecureContext;
  /** Looks at the files. Their new content is taken when two looks in a row found the same. */
  check(): Promise<void>;
  stop(): void;
};

/**
 * A renewal writes two files, one after the other: two looks this far apart see it done. Shorter, and a pair is read in
 * its middle and complained about; longer, and a certificate that expires is replaced that much later.
 */
const CHECK_MS = 1_000;

/**
 * Reads the files, and keeps reading them. A pair that cannot be used is warned of, once, and the former one stays.
 * @throws Error with a sentence when they cannot be used at the start
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

/** What changes when one of the files is written, replaced, or reached through another link. */
async function stateOf({ certFile, keyFile }: CertificateFiles): Promise<string> {
  const states = [certFile, keyFile].map((path) =>
    stat(path).then(
      ({ ino, size, mtimeMs, ctimeMs }) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`,
      (error: NodeJS.ErrnoException) => error.code ?? 'unreadable',
    ),
  );
  return (await Promise.all(states)).join(' ');
}
