/** A certificate and its key, read from PEM files and checked against each other. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import { describeError } from '#core/contracts/errors.ts';

/** Absolute paths. The first certificate in `certFile` is the server's own; its chain follows. */
export type CertificateFiles = { certFile: string; keyFile: string };

type Reading = { context: SecureContext } | { problems: string[] };

/** Reads both files. Problems name the variables that set the paths, and never quote the files. */
export function readCertificate({ certFile, keyFile }: CertificateFiles): Reading {
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
  const cert = read('TLS_CERT_FILE', certFile);
  const key = read('TLS_KEY_FILE', keyFile);
  const parsedCert =
    cert !== null ? attempt('TLS_CERT_FILE must hold a certificate as PEM', () => parse(cert)) : null;
  const parsedKey =
    key !== null
      ? attempt('TLS_KEY_FILE must hold a private key as PEM, without a passphrase', () => parseKey(key))
      : null;
  if (cert === null || key === null || parsedCert === null || parsedKey === null) return { problems };
  if (!parsedCert.checkPrivateKey(parsedKey))
    return {
      problems: ['TLS_KEY_FILE must be the key of the first certificate in TLS_CERT_FILE, but is another'],
    };
  const context = attempt('TLS_CERT_FILE and TLS_KEY_FILE must be fit for TLS', () =>
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
