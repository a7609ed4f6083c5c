import { randomBytes, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import t from 'tap';
import type { ProviderName } from '#core/contracts/provider.ts';
import {
  createKeyOpener,
  NO_PROVIDER_KEYS,
  type SealedProviderKey,
  sealProviderKey,
} from '#platform/provider-keys/mod.ts';
import { createSecretBox, type SecretBox } from '#platform/secrets/mod.ts';

type Opening = { organizationId: string; provider: string };

/** An opener, what it logs, and how often its box is asked. */
function world(box: SecretBox = createSecretBox([randomBytes(32)])) {
  const organizationId = randomUUID();
  const logged: Opening[] = [];
  const log = pino({ base: null }, { write: (line) => void logged.push(JSON.parse(line)) });
  let opened = 0;
  const counted: SecretBox = {
    ...box,
    open: (sealed, owner) => {
      opened += 1;
      return box.open(sealed, owner);
    },
  };
  const seal = (provider: ProviderName, key: string, by: SecretBox = box): SealedProviderKey => ({
    provider,
    sealed: sealProviderKey(by, { organizationId, provider }, key),
  });
  const open = createKeyOpener({ secrets: counted, log });
  return {
    organizationId,
    logged,
    seal,
    timesOpened: () => opened,
    open: (rows: readonly SealedProviderKey[], of = organizationId) => open(of, rows),
  };
}

t.test('the keys of an organization are opened, once for all of its API keys', async (t) => {
  const { open, seal, timesOpened } = world();
  const rows = [seal('openai', 'sk-1'), seal('mistral', 'sk-2')];
  const keys = open(rows);
  t.same(
    [...keys],
    [
      ['openai', 'sk-1'],
      ['mistral', 'sk-2'],
    ],
  );
  const sameRows = rows.map(({ provider, sealed }) => ({ provider, sealed: Buffer.from(sealed) }));
  t.equal(open(sameRows), keys, 'the same map, however often it is asked for');
  t.equal(timesOpened(), 2);
});

t.test('only changed provider keys are opened again', async (t) => {
  const { open, seal, timesOpened } = world();
  const kept = seal('openai', 'sk-1');
  open([kept, seal('mistral', 'sk-2')]);
  t.same(
    [...open([kept, seal('mistral', 'sk-3')])],
    [
      ['openai', 'sk-1'],
      ['mistral', 'sk-3'],
    ],
  );
  t.equal(timesOpened(), 3);
  t.same([...open([kept])], [['openai', 'sk-1']], 'one that was removed is gone');
  t.same([...open([kept, seal('groq', 'sk-4')])].length, 2, 'one that was added is there');
  t.equal(timesOpened(), 4);
});

t.test('organizations without keys share an empty map', async (t) => {
  const { open, seal } = world();
  t.equal(open([]), NO_PROVIDER_KEYS);
  open([seal('openai', 'sk-1')]);
  t.equal(open([]), NO_PROVIDER_KEYS, 'also one that had some');
  t.equal(NO_PROVIDER_KEYS.size, 0);
});

t.test('a key that cannot be opened is null, and logged once by its organization and provider', async (t) => {
  const { open, seal, logged, organizationId } = world();
  const foreign = createSecretBox([randomBytes(32)]);
  const bad = seal('openai', 'sk-secret-1', foreign);
  const good = seal('mistral', 'sk-secret-2');
  for (let look = 0; look < 3; look += 1) {
    t.same(
      [...open([bad, good])],
      [
        ['openai', null],
        ['mistral', 'sk-secret-2'],
      ],
    );
  }
  open([bad, seal('mistral', 'sk-secret-3')]);
  t.equal(logged.length, 1, 'a change beside it is no reason to log it again');
  t.match(logged[0], {
    organizationId,
    provider: 'openai',
    reason: /SECRET_KEY is not the key they were stored with/,
    msg: /cannot be opened/,
  });
  t.notMatch(JSON.stringify(logged), 'sk-secret');
  open([seal('openai', 'sk-secret-4', foreign)]);
  t.equal(logged.length, 2, 'another key that cannot be opened is told');
});

t.test('without a SECRET_KEY every stored key is there, and cannot be opened', async (t) => {
  const sealer = createSecretBox([randomBytes(32)]);
  const { open, seal } = world(createSecretBox([]));
  t.same([...open([seal('openai', 'sk-1', sealer)])], [['openai', null]]);
});

t.test("another organization's row does not open", async (t) => {
  const { open, seal } = world();
  const row = seal('openai', 'sk-1');
  t.same([...open([row], randomUUID())], [['openai', null]]);
  t.same([...open([{ ...row, provider: 'custom' }])], [['custom', null]], "nor another provider's");
});
