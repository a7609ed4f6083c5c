import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createSecretBox, SecretsUnavailableError } from '#platform/secrets/mod.ts';

const owner = { organizationId: 'o-1', evaluatorId: 'e-1' };
const secrets = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'headers.authorization': 'Bearer ü\u0000😀',
};
const key = randomBytes(32);
const box = createSecretBox([key]);

t.test('sealed secrets open unchanged, and are sealed differently each time', (t) => {
  const sealed = box.seal(secrets, owner);
  t.same(box.open(sealed, owner), secrets);
  t.same(box.open(new Uint8Array(sealed), owner), secrets, 'as bytes of any kind');
  t.notSame(box.seal(secrets, owner), sealed);
  t.same(box.open(box.seal({}, owner), owner), {});
  t.notOk(sealed.includes('whsec_') || sealed.includes('Bearer'));
  t.equal(sealed[0], 1, 'the version comes first');
  t.end();
});

t.test('sealed secrets with any changed or missing byte do not open', (t) => {
  const sealed = box.seal({ secret: 'short' }, owner);
  for (let at = 0; at < sealed.length; at += 1) {
    for (const flip of [1, 0x80, 0xff]) {
      const changed = Buffer.from(sealed);
      changed[at] = changed[at]! ^ flip;
      if (!throwsUnavailable(() => box.open(changed, owner)))
        t.fail(`byte ${at} changed by ${flip} was not noticed`);
    }
    if (!throwsUnavailable(() => box.open(sealed.subarray(0, at), owner)))
      t.fail(`cut at ${at} was not noticed`);
  }
  t.ok(throwsUnavailable(() => box.open(Buffer.concat([sealed, Buffer.of(0)]), owner)));
  t.end();
});

t.test('sealed secrets do not open for another owner', (t) => {
  const sealed = box.seal(secrets, owner);
  const others = [
    { organizationId: 'o-2', evaluatorId: 'e-1' },
    { organizationId: 'o-1', evaluatorId: 'e-2' },
    { organizationId: 'e-1', evaluatorId: 'o-1' },
    { organizationId: 'o-1e', evaluatorId: '-1' },
    { organizationId: 'o-1","e-1', evaluatorId: '' },
  ];
  for (const other of others) t.throws(() => box.open(sealed, other), SecretsUnavailableError);
  t.end();
});

t.test('sealed secrets open with their key among several, not with another one or none', (t) => {
  const sealed = box.seal(secrets, owner);
  const newKey = randomBytes(32);
  t.throws(() => createSecretBox([newKey]).open(sealed, owner), {
    message: /not the key they were stored with/,
  });
  const rotated = createSecretBox([newKey, key]);
  t.same(rotated.open(sealed, owner), secrets);
  t.same(createSecretBox([newKey]).open(rotated.seal(secrets, owner), owner), secrets, 'the first key seals');
  const none = createSecretBox([]);
  t.equal(none.canSeal, false);
  t.throws(() => none.seal(secrets, owner), { message: /SECRET_KEY is not set/ });
  t.throws(() => none.open(sealed, owner), SecretsUnavailableError);
  t.throws(() => createSecretBox([randomBytes(16)]), { message: /32 bytes, but has 16/ });
  t.end();
});

function throwsUnavailable(open: () => unknown): boolean {
  try {
    open();
    return false;
  } catch (error) {
    return error instanceof SecretsUnavailableError;
  }
}
