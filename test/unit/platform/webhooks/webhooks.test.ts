import t from 'tap';
import { createSecretBox, SecretsUnavailableError } from '#platform/secrets/mod.ts';
import {
  deliveryIdOf,
  newDeliveryId,
  newWebhookSecret,
  openWebhookSecrets,
  sealWebhookSecrets,
} from '#platform/webhooks/mod.ts';

const ID = /^msg_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const OWNER = {
  organizationId: '0b0e6a52-6f3c-4f6e-9a57-1b1f1f3a2f10',
  webhookId: '7b0e6a52-6f3c-4f6e-9a57-1b1f1f3a2f10',
};

t.test('the id of a delivery is the same for the same happening, and sorts by its time', (t) => {
  const id = deliveryIdOf(1_700_000_000_000, OWNER.webhookId, 'request.logged 17/0');
  t.match(id, ID);
  t.equal(deliveryIdOf(1_700_000_000_000, OWNER.webhookId, 'request.logged 17/0'), id);
  t.not(deliveryIdOf(1_700_000_000_000, OWNER.webhookId, 'request.logged 17/1'), id);
  t.not(deliveryIdOf(1_700_000_000_000, OWNER.organizationId, 'request.logged 17/0'), id);
  t.ok(deliveryIdOf(1_700_000_000_001, OWNER.webhookId, 'a') > id);
  t.match(newDeliveryId(1_700_000_000_000), ID);
  t.end();
});

t.test('a secret is whsec_ and 32 random bytes', (t) => {
  const secret = newWebhookSecret();
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.not(newWebhookSecret(), secret);
  t.end();
});

t.test('sealed secrets open for their webhook alone', (t) => {
  const box = createSecretBox([Buffer.alloc(32, 7)]);
  const secrets = { secret: newWebhookSecret(), previous: newWebhookSecret() };
  const sealed = sealWebhookSecrets(box, OWNER, secrets);
  t.notOk(sealed.includes(secrets.secret));
  t.same(openWebhookSecrets(box, OWNER, sealed), secrets);
  const one = sealWebhookSecrets(box, OWNER, { secret: secrets.secret });
  t.same(openWebhookSecrets(box, OWNER, one), { secret: secrets.secret });
  const other = { ...OWNER, webhookId: OWNER.organizationId };
  t.throws(() => openWebhookSecrets(box, other, sealed), SecretsUnavailableError);
  t.end();
});
