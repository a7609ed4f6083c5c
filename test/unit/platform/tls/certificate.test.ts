import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { leafFingerprint, readCertificate } from '#platform/tls/mod.ts';
import { certificateFiles, makeCertificate } from '../../../support/make-certificate.ts';

const own = makeCertificate('gateway.test');
const other = makeCertificate('other.test');
const files = certificateFiles(own);
t.teardown(files.remove);

function problemsOf(given = files): string[] {
  const read = readCertificate(given);
  return 'problems' in read ? read.problems : [];
}

t.test('a certificate and its own key are read without problems', async (t) => {
  files.write(own);
  t.ok('context' in readCertificate(files));
});

t.test('a key of another certificate is refused by the name of its variable', async (t) => {
  files.write({ cert: own.cert, key: other.key });
  t.match(problemsOf(), [/^TLS_KEY_FILE must be the key of the first certificate in TLS_CERT_FILE/]);
});

t.test('both broken files are named at once, and their content is not quoted', async (t) => {
  files.write({ cert: 'private words', key: 'private words' });
  const problems = problemsOf();
  t.match(problems, [/^TLS_CERT_FILE must hold a certificate/, /^TLS_KEY_FILE must hold a private key/]);
  t.notMatch(problems.join(), /private words/);
});

t.test('files that are missing are named by their variables', async (t) => {
  const problems = problemsOf({ ...files, certFile: '/missing/cert.pem', keyFile: '/missing/key.pem' });
  t.match(problems, [/^TLS_CERT_FILE must be a file/, /^TLS_KEY_FILE must be a file/]);
});

t.test(
  'leafFingerprint is that of the first certificate of a chain, and throws when there is none',
  async (t) => {
    t.equal(leafFingerprint(own.cert + other.cert), new X509Certificate(own.cert).fingerprint256);
    t.throws(() => leafFingerprint('no certificate'));
  },
);
