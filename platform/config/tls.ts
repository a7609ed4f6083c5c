import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeError } from '#core/contracts/errors.ts';
import { type CertificateFiles, leafFingerprint, readCertificate } from '../tls/mod.ts';
import type { EnvironmentReader } from './read.ts';

/** Both or neither; the pair is checked here, so that what is wrong with it is told with all the others. */
export function readTls(reader: EnvironmentReader): CertificateFiles | null {
  const certFile = reader.text('TLS_CERT_FILE');
  const keyFile = reader.text('TLS_KEY_FILE');
  if (certFile === null && keyFile === null) return null;
  if (certFile === null || keyFile === null) {
    const [set, unset] =
      certFile === null ? ['TLS_KEY_FILE', 'TLS_CERT_FILE'] : ['TLS_CERT_FILE', 'TLS_KEY_FILE'];
    reader.problems.push(`${set} needs ${unset}, which is not set`);
    return null;
  }
  const files = { certFile: resolve(certFile), keyFile: resolve(keyFile) };
  const read = readCertificate(files);
  if ('problems' in read) reader.problems.push(...read.problems);
  return files;
}

/** Where judges are called. A gateway of this environment shows the certificate of this environment. */
export function readGateway(reader: EnvironmentReader, port: number, tls: CertificateFiles | null) {
  const url = reader.url('GATEWAY_URL', ['http:', 'https:'], 'http://gateway:8787');
  const certFile = reader.text('GATEWAY_CERT_FILE');
  const ownCertFile = url === null ? (tls?.certFile ?? null) : null;
  if (certFile !== null) {
    try {
      leafFingerprint(readFileSync(certFile, 'utf8'));
    } catch (error) {
      reader.problems.push(
        `GATEWAY_CERT_FILE must be a file with a certificate as PEM: ${describeError(error)}`,
      );
    }
  }
  return {
    gatewayUrl: url ?? `${tls === null ? 'http' : 'https'}://127.0.0.1:${port}`,
    gatewayCertFile: certFile === null ? ownCertFile : resolve(certFile),
  };
}
