/** Every provider as it was seen: what it is sent, what of its answer the client gets, and what the log keeps of it. */
import t from 'tap';
import { PROVIDERS } from '../../../../gateway/providers/registry.ts';
import { type Fixture, readFixtures } from './fixture.ts';
import { replay } from './replay.ts';
import { startWorld, type World } from './world.ts';

const fixtures = readFixtures();

/** One gateway for each environment that a fixture needs. */
const worlds = new Map<string, Promise<World>>();

function worldOf({ environment = {} }: Fixture): Promise<World> {
  const key = JSON.stringify(environment);
  const world = worlds.get(key) ?? startWorld(t, fixtures, environment);
  worlds.set(key, world);
  return world;
}

for (const fixture of fixtures) {
  t.test(`${fixture.provider} ${fixture.shows} (${fixture.name})`, async (t) => {
    await replay(t, fixture, await worldOf(fixture));
  });
}

t.test('every endpoint in the table of providers has a fixture', (t) => {
  for (const [provider, { paths }] of Object.entries(PROVIDERS)) {
    for (const [endpoint, path] of Object.entries(paths)) {
      const shown = fixtures.some(
        (fixture) => fixture.provider === provider && new URL(fixture.sent.url).pathname.endsWith(path),
      );
      t.ok(shown, `${provider} ${endpoint}`);
    }
  }
  t.end();
});

t.test('no fixture holds a key or an address of a machine', (t) => {
  for (const fixture of fixtures) {
    const text = JSON.stringify(fixture);
    t.notMatch(
      text,
      /\b(?:sk|gsk|xai|pplx)-[A-Za-z0-9]{12,}|AIza[\w-]{20,}|localhost|127\.0\.0\.1|\/home\/|\/work\//,
    );
  }
  t.end();
});
