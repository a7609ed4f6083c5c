/** A certificate and its key, read from PEM files and checked against each other. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import { describeError } from '#core/contracts/errors.ts';

/** Absolute paths. The first certificate in `certFile` is the server's own; its chain follows. */
export type CertificateFiles = { certFile: string; keyFile: string };

type Reading = { context: SecureContext } | { problems: string[] };

/** The names of the variables that set the paths. */
type FileNames = { cert: string; key: string };
const SERVER_FILES: FileNames = { cert: 'TLS_CERT_FILE', key: 'TLS_KEY_FILE' };

/** Reads both files. Problems name the variables that set the paths, and never quote the files. */
export function readCertificate({ certFile, keyFile }: CertificateFiles, names = SERVER_FILES): Reading {
  const problems: string[] = [];
  const attempt = <T>(rule: string, read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      problems.push(`${rule}: ${describeError(error)}`);
      return null;
    }
  };
  const read = (name: string, path: string) =>
    attempt(`${name} must be a file that can be read`, () => readFileSync(path, 'utf8'));
  const cert = read(names.cert, certFile);
  const key = read(names.key, keyFile);
  const parsedCert =
    cert !== null ? attempt(`${names.cert} must hold a certificate as PEM`, () => parse(cert)) : null;
  const parsedKey =
    key !== null
      ? attempt(`${names.key} must hold a private key as PEM, without a passphrase`, () => parseKey(key))
      : null;
  if (cert === null || key === null || parsedCert === null || parsedKey === null) return { problems };
  if (!parsedCert.checkPrivateKey(parsedKey))
    return {
      problems: [`${names.key} must be the key of the first certificate in ${names.cert}, but is another`],
    };
  const context = attempt(`${names.cert} and ${names.key} must be fit for TLS`, () =>
    createSecureContext({ cert, key }),
  );
  return context === null ? { problems } : { context };
}

function parse(cert: string): X509Certificate {
  return new X509Certificate(cert);
}

function parseKey(key: string): KeyObject {
  return createPrivateKey(key);
}

/**
 * Returns the SHA-256 fingerprint of the first certificate in a PEM text, in the format of `getPeerCertificate`.
 * @throws Error when the text has no certificate
 */
export function leafFingerprint(cert: string): string {
  return parse(cert).fingerprint256;
}
