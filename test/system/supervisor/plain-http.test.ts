import t from 'tap';
import { runMain, startAssay } from '../../support/assay.ts';
import { certificateFiles, makeCertificate } from '../../support/make-certificate.ts';

const files = certificateFiles(makeCertificate('x.test'));
t.teardown(files.remove);
const TLS = { TLS_CERT_FILE: files.certFile, TLS_KEY_FILE: files.keyFile };
const SENTENCE = 'HOST is not loopback and there is no TLS';

function warnings(stderr: string): number {
  return stderr.split(SENTENCE).length - 1;
}

for (const [what, role, environment, count] of [
  ['a gateway on all addresses', 'gateway', { HOST: '0.0.0.0' }, 1],
  ['an API on an address of a network', 'api', { HOST: '192.0.2.1' }, 1],
  ['a gateway on all addresses with TLS', 'gateway', { HOST: '0.0.0.0', ...TLS }, 0],
  ['a gateway on loopback', 'gateway', { HOST: '127.8.0.1' }, 0],
  ['a gateway on loopback by name', 'gateway', { HOST: 'localhost' }, 0],
  ['a gateway without HOST', 'gateway', {}, 0],
  ['ingest, which listens on loopback only', 'ingest', { HOST: '0.0.0.0' }, 0],
] as [string, string, Record<string, string>, number][]) {
  t.test(`${what} logs ${count} warnings that there is no TLS`, async (t) => {
    // Without a database the start ends here.
    const run = runMain([role], environment);
    t.match(await run.ended, { code: 1 });
    t.match(run.stderr(), 'needs DATABASE_URL');
    t.equal(warnings(run.stderr()), count);
  });
}

t.test(
  'npm start on all addresses without TLS logs one warning, however many processes it runs',
  async (t) => {
    const assay = await startAssay({ environment: { HOST: '0.0.0.0', GATEWAYS: '2' } });
    t.teardown(() => assay.stop());
    t.equal(warnings(assay.stderr()), 1);
  },
);
