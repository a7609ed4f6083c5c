import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig } from '#platform/config/mod.ts';
import { certificateFiles, makeCertificate } from '../../../support/make-certificate.ts';

const own = certificateFiles(makeCertificate('own.test'));
const other = certificateFiles(makeCertificate('other.test'));
t.teardown(() => {
  own.remove();
  other.remove();
});
const OWN = { TLS_CERT_FILE: own.certFile, TLS_KEY_FILE: own.keyFile };

function problemsOf(environment: Record<string, string>): string[] {
  const result = readConfig(environment);
  return result.ok ? [] : result.problems;
}

function configOf(environment: Record<string, string>) {
  const result = readConfig(environment);
  if (!result.ok) throw new Error(result.problems.join('; '));
  return result.config;
}

t.test('without certificate and key there is no TLS', async (t) => {
  const { tls, gateway } = configOf({});
  t.equal(tls, null);
  t.match(gateway, { url: 'http://127.0.0.1:8787', certFile: null });
});

t.test('a certificate without its key, or a key without its certificate, is a problem', async (t) => {
  t.same(problemsOf({ TLS_CERT_FILE: own.certFile }), ['TLS_CERT_FILE needs TLS_KEY_FILE, which is not set']);
  t.same(problemsOf({ TLS_KEY_FILE: own.keyFile }), ['TLS_KEY_FILE needs TLS_CERT_FILE, which is not set']);
});

t.test('TLS files that cannot be used are reported with everything else that is wrong', async (t) => {
  const text = join(t.testdir(), 'text.pem');
  writeFileSync(text, 'hush');
  const cases: [Record<string, string>, RegExp[]][] = [
    [
      { ...OWN, TLS_KEY_FILE: other.keyFile },
      [/^TLS_KEY_FILE must be the key of the first certificate in TLS_CERT_FILE/],
    ],
    [{ ...OWN, TLS_CERT_FILE: '/nowhere' }, [/^TLS_CERT_FILE must be a file that can be read: .*ENOENT/]],
    [
      { TLS_CERT_FILE: text, TLS_KEY_FILE: text },
      [/^TLS_CERT_FILE must hold a certificate as PEM/, /^TLS_KEY_FILE must hold a private key as PEM/],
    ],
    [{ GATEWAY_CERT_FILE: text }, [/^GATEWAY_CERT_FILE must be a file with a certificate as PEM/]],
  ];
  for (const [environment, expected] of cases) {
    const problems = problemsOf({ ...environment, GATEWAYS: 'many' });
    for (const pattern of [...expected, /^GATEWAYS must be/])
      t.ok(
        problems.some((problem) => pattern.test(problem)),
        `${pattern} in ${problems}`,
      );
    t.equal(problems.length, expected.length + 1);
    t.notMatch(problems.join(), 'hush', 'what is in the files is not told');
  }
});

t.test(
  'judges are called over TLS at the gateway of the same environment, which is trusted by its certificate',
  async (t) => {
    t.match(configOf(OWN).gateway, {
      url: 'https://127.0.0.1:8787',
      certFile: own.certFile,
    });
    t.match(
      configOf({ ...OWN, GATEWAY_URL: 'https://llm.example' }).gateway,
      { url: 'https://llm.example', certFile: null },
      'a gateway that is named is known as authorities have it',
    );
    t.match(configOf({ GATEWAY_URL: 'https://llm.example', GATEWAY_CERT_FILE: other.certFile }).gateway, {
      url: 'https://llm.example',
      certFile: other.certFile,
    });
  },
);
