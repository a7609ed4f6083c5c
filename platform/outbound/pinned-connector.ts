/**
 * Connections to a gateway with a known certificate. Its name need not match the address: a gateway on the same machine is
 * called at 127.0.0.1 and shows its public name. Exactly that certificate is trusted, and nothing is sent before the
 * gateway has shown it.
 */
import { readFileSync } from 'node:fs';
import type { TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import { leafFingerprint } from '../tls/mod.ts';
import { plainConnector } from './plain-connector.ts';

/** Certificates trusted: the current one and its predecessor, which a gateway still shows for a second or two after a renewal. */
const TRUSTED = 2;

/** Makes undici's `connect`. The file is read again for each connection, since certificates are renewed. */
export function pinnedConnector({ certFile, timeoutMs }: { certFile: string; timeoutMs: number }) {
  const fingerprints: string[] = [];
  const readAgain = () => {
    try {
      const fingerprint = leafFingerprint(readFileSync(certFile, 'utf8'));
      if (fingerprints[0] !== fingerprint) fingerprints.unshift(fingerprint);
      fingerprints.length = Math.min(fingerprints.length, TRUSTED);
    } catch {
      // The file is being replaced: the known certificates stay trusted.
    }
  };
  readAgain();
  // Sessions are not cached: a resumed session shows no certificate.
  const connect = plainConnector({
    allowH2: false,
    timeout: timeoutMs,
    rejectUnauthorized: false,
    maxCachedSessions: 0,
  });
  const connector: buildConnector.connector = (options, callback) => {
    readAgain();
    connect(options, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      const shown = (socket as TLSSocket).getPeerCertificate?.().fingerprint256;
      if (shown !== undefined && fingerprints.includes(shown)) {
        callback(null, socket);
        return;
      }
      socket.destroy();
      callback(new Error('The gateway does not show the certificate in GATEWAY_CERT_FILE'), null);
    });
  };
  return connector;
}
