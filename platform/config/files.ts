/** Variables that name files: what the files hold is checked at start, together with everything else. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeError } from '#core/contracts/errors.ts';
// A door of its own: the healthcheck and the commands read the configuration without loading the price registry.
import { type OperatorModels, parseModelsFile } from '#core/models/models-file/mod.ts';
import { type CertificateFiles, leafFingerprint, readCertificate } from '../tls/mod.ts';

/** Reads MODELS_FILE; null: there is none, or it has problems. */
export function readModels(path: string | undefined, problems: string[]): OperatorModels | null {
  if (path === undefined) return null;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    problems.push(`MODELS_FILE must be a file that can be read: ${describeError(error)}`);
    return null;
  }
  const read = parseModelsFile(text);
  if (read.ok) return read.value;
  problems.push(...read.problems.map((problem) => `MODELS_FILE: ${problem}`));
  return null;
}

/**
 * Checks the pair of certificate and key: both or neither are set, and one fits the other.
 * @param owner what the names of their variables begin with
 */
export function readTls(
  owner: 'TLS' | 'NATS',
  { certFile, keyFile }: { certFile: string | undefined; keyFile: string | undefined },
  problems: string[],
): CertificateFiles | null {
  const names = { cert: `${owner}_CERT_FILE`, key: `${owner}_KEY_FILE` };
  if (certFile === undefined && keyFile === undefined) return null;
  if (certFile === undefined || keyFile === undefined) {
    const [set, missing] = certFile === undefined ? [names.key, names.cert] : [names.cert, names.key];
    problems.push(`${set} needs ${missing}, which is not set`);
    return null;
  }
  const files = { certFile: resolve(certFile), keyFile: resolve(keyFile) };
  const read = readCertificate(files, names);
  if ('problems' in read) problems.push(...read.problems);
  return files;
}

/** Checks GATEWAY_CERT_FILE. */
export function checkGatewayCertificate(path: string | undefined, problems: string[]): void {
  if (path === undefined) return;
  try {
    leafFingerprint(readFileSync(path, 'utf8'));
  } catch (error) {
    problems.push(`GATEWAY_CERT_FILE must be a file with a certificate as PEM: ${describeError(error)}`);
  }
}
