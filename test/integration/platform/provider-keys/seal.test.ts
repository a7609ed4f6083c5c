import { randomBytes, randomUUID } from 'node:crypto';
import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import t from 'tap';
import { PROVIDER_NAMES } from '#core/contracts/provider.ts';
import { openProviderKey, sealProviderKey } from '#platform/provider-keys/mod.ts';
import { createSecretBox, SecretsUnavailableError } from '#platform/secrets/mod.ts';

const secretKey = randomBytes(32);
const box = createSecretBox([secretKey]);
const key = fc.stringMatching(/^[!-~]{1,200}$/);
const owner = fc.record({ organizationId: fc.uuid(), provider: fc.constantFrom(...PROVIDER_NAMES) });

t.test(
  'a sealed key opens for its organization and provider, and holds nothing of it in the clear',
  async () => {
    fc.assert(
      fc.property(key, owner, (text, of) => {
        const sealed = sealProviderKey(box, of, text);
        // A key of a few characters may come up in random bytes.
        const isHidden = text.length < 6 || !sealed.includes(text);
        return isHidden && openProviderKey(box, of, sealed) === text;
      }),
      { numRuns: 1_000 },
    );
  },
);

/** Another organization, another provider, or both. */
const other = (of: { organizationId: string; provider: string }) =>
  owner
    .chain(({ organizationId, provider }) =>
      fc.constantFrom({ ...of, organizationId }, { ...of, provider }, { organizationId, provider }),
    )
    .filter(
      ({ organizationId, provider }) => organizationId !== of.organizationId || provider !== of.provider,
    );

t.test('a sealed provider key opens for no other organization or provider', async () => {
  const cases = owner.chain((of) => fc.tuple(key, fc.constant(of), other(of)));
  fc.assert(
    fc.property(cases, ([text, of, wrong]) => {
      const sealed = sealProviderKey(box, of, text);
      try {
        openProviderKey(box, wrong, sealed);
        return false;
      } catch (error) {
        return error instanceof SecretsUnavailableError;
      }
    }),
    { numRuns: 1_000 },
  );
});

t.test("an evaluator's secrets do not open as a provider's key, nor the reverse", async (t) => {
  const organizationId = randomUUID();
  const ofEvaluator = { organizationId, evaluatorId: randomUUID() };
  const ofProvider = { organizationId, provider: 'openai' };
  const theirs = box.seal({ key: 'sk-evaluator' }, ofEvaluator);
  t.throws(() => openProviderKey(box, ofProvider, theirs), SecretsUnavailableError);
  const ours = sealProviderKey(box, ofProvider, 'sk-provider');
  t.throws(() => box.open(ours, ofEvaluator), SecretsUnavailableError);
});

t.test('a new SECRET_KEY before the old one seals new provider keys and opens old ones', async (t) => {
  const of = { organizationId: randomUUID(), provider: 'openai' };
  const newKey = randomBytes(32);
  const sealed = sealProviderKey(box, of, 'sk-old');
  t.throws(() => openProviderKey(createSecretBox([newKey]), of, sealed), {
    message: /not the key they were stored with/,
  });
  const rotated = createSecretBox([newKey, secretKey]);
  t.equal(openProviderKey(rotated, of, sealed), 'sk-old');
  const again = sealProviderKey(rotated, of, 'sk-new');
  t.equal(
    openProviderKey(createSecretBox([newKey]), of, again),
    'sk-new',
    'what is stored now needs it alone',
  );
});

t.test('only provider keys that are valid header values can be sealed', async () => {
  fc.assert(fc.property(key, (text) => validateHeaderValue('authorization', `Bearer ${text}`) === undefined));
});
