/** Certificates that nobody else has signed, made for one test (RFC 5280), in files as an operator has them. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type MadeCertificate = { cert: string; key: string };

/** One element of ASN.1 in DER: its tag, its length, what is in it. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const lengths = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...lengths]), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const objectId = (...bytes: number[]) => der(0x06, Buffer.from(bytes));
const ECDSA_WITH_SHA256 = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const COMMON_NAME = objectId(0x55, 0x04, 0x03);
const SUBJECT_ALT_NAME = objectId(0x55, 0x1d, 0x11);
const FROM = der(0x18, Buffer.from('20200101000000Z'));
const TO = der(0x18, Buffer.from('21200101000000Z'));

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** A certificate for a DNS name, with a key of its own. */
export function makeCertificate(name: string): MadeCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(name)))));
  const names = sequence(SUBJECT_ALT_NAME, der(0x04, sequence(der(0x82, Buffer.from(name)))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    subject,
    sequence(FROM, TO),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(names)),
  );
  const signature = sign('sha256', body, privateKey);
  const bits = der(0x03, Buffer.concat([Buffer.from([0]), signature]));
  return {
    cert: pem('CERTIFICATE', sequence(body, ECDSA_WITH_SHA256, bits)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Two files in a directory of their own, that can be written anew. */
export function certificateFiles({ cert, key }: MadeCertificate) {
  const directory = mkdtempSync(join(tmpdir(), 'assay-certificate-'));
  const files = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') };
  const write = (certificate: Partial<MadeCertificate>) => {
    if (certificate.cert !== undefined) writeFileSync(files.certFile, certificate.cert);
    if (certificate.key !== undefined) writeFileSync(files.keyFile, certificate.key);
  };
  write({ cert, key });
  return { ...files, write, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
