/**
 * Secrets at rest: AES-256-GCM under a key of the operator's. The sealed form is
 * version (1 byte), key id (8), nonce (12), ciphertext, tag (16); whose secrets they are is authenticated along with it,
 * so that a sealed value copied to another row does not open there.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Whose secrets they are. */
export type SecretOwner = { organizationId: string; evaluatorId: string };

export type SecretBox = {
  /** True when there is a key at all. */
  readonly canSeal: boolean;
  /** @throws SecretsUnavailableError without a key */
  seal(secrets: Record<string, string>, owner: SecretOwner): Buffer;
  /** @throws SecretsUnavailableError without the key that sealed them, or when they are not this owner's, or changed */
  open(sealed: Uint8Array, owner: SecretOwner): Record<string, string>;
};

/** Secrets cannot be sealed or opened. The message is public. */
export class SecretsUnavailableError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'SecretsUnavailableError';
  }
}

const VERSION = 1;
const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;
const CIPHER = 'aes-256-gcm';

function headerOf(key: Uint8Array): Buffer {
  const keyId = createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES);
  return Buffer.concat([Buffer.of(VERSION), keyId]);
}

function authenticated(header: Uint8Array, owner: SecretOwner): Buffer {
  return Buffer.concat([header, Buffer.from(JSON.stringify([owner.organizationId, owner.evaluatorId]))]);
}

/**
 * @param keys of 32 bytes each: the first seals, each opens what it has sealed, so that a key can be replaced. Empty:
 *   every use throws SecretsUnavailableError
 * @throws Error when a key is not 32 bytes long
 */
export function createSecretBox(keys: readonly Uint8Array[]): SecretBox {
  for (const key of keys) {
    if (key.length !== KEY_BYTES)
      throw new Error(`A secret key has ${KEY_BYTES} bytes, but has ${key.length}`);
  }
  const headers = keys.map(headerOf);
  return {
    canSeal: keys.length > 0,
    seal: (secrets, owner) => {
      const [key] = keys;
      const [header] = headers;
      if (key === undefined || header === undefined) {
        throw new SecretsUnavailableError('Secrets cannot be stored, because SECRET_KEY is not set');
      }
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(authenticated(header, owner));
      const text = cipher.update(JSON.stringify(secrets));
      return Buffer.concat([header, nonce, text, cipher.final(), cipher.getAuthTag()]);
    },
    open: (sealed, owner) => {
      const bytes = Buffer.from(sealed);
      const header = bytes.subarray(0, HEADER_BYTES);
      const key = keys[headers.findIndex((known) => known.equals(header))];
      if (key === undefined) {
        throw new SecretsUnavailableError(
          'The stored secrets cannot be read, because SECRET_KEY is not the key they were stored with',
        );
      }
      return openWith(key, bytes, owner);
    },
  };
}

function openWith(key: Uint8Array, bytes: Buffer, owner: SecretOwner): Record<string, string> {
  const textStart = HEADER_BYTES + NONCE_BYTES;
  try {
    const nonce = bytes.subarray(HEADER_BYTES, textStart);
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(authenticated(bytes.subarray(0, HEADER_BYTES), owner));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = decipher.update(bytes.subarray(textStart, -TAG_BYTES));
    return JSON.parse(Buffer.concat([text, decipher.final()]).toString());
  } catch (cause) {
    throw new SecretsUnavailableError('The stored secrets cannot be read: they were changed, or moved', {
      cause,
    });
  }
}
