import { type LookupAddress, type LookupOptions, Resolver } from 'node:dns';
import { lookup as askSystem } from 'node:dns/promises';
import { FairSlots } from '../process/fair-slots.ts';
import type { AllowList } from './allow-list.ts';

/** Resolves a name to all of its addresses. */
export type Lookup = (
  host: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Two questions to each server, the second one for twice as long. A connection may take less, and then fails before. */
const PATIENCE = { timeout: 1_500, tries: 2 };
/** Look-ups of the system: one at a time, and those that wait, of one name and in all; no longer than a connection may take. */
const BY_SYSTEM = { count: 1, ofOne: 1, maxWaiting: 1_000, maxWaitingOfOne: 100, patienceMs: 5_000 };

/**
 * Makes the look-up of names that users chose. It asks the name servers itself: the system's look-up holds a thread of the
 * process for as long as the servers of a name are silent, and two of them keep all other names waiting, of other
 * organizations and of PostgreSQL. What the servers do not know, the system may know from `/etc/hosts` or by a search domain:
 * it is asked about one name at a time.
 * @param servers addresses with ports. Default: those of the system, read again for each look-up
 */
export function createLookup(allow: AllowList, servers?: readonly string[]): Lookup {
  const slots = new FairSlots(BY_SYSTEM);
  const lookUp = async (host: string): Promise<LookupAddress[]> => {
    if (allow.hasHost(host)) return await askSystem(host, { all: true });
    const found = await askServers(host, servers);
    return found ?? (await slots.run(host, () => askSystem(host, { all: true }))) ?? [];
  };
  return (host, _options, done) => {
    lookUp(host).then(
      (found) => done(null, found),
      (error) => done(error, []),
    );
  };
}

/**
 * Resolves a name. IPv4 addresses come first: there may be no IPv6. Returns null for a name of which the servers know none, or
 * without servers.
 * @throws Error EAI_AGAIN: they are silent
 */
async function askServers(host: string, servers?: readonly string[]): Promise<LookupAddress[] | null> {
  const resolver = new Resolver(PATIENCE);
  if (servers !== undefined) resolver.setServers(servers);
  const answers = await Promise.all([
    answerOf((done) => resolver.resolve4(host, done), 4),
    answerOf((done) => resolver.resolve6(host, done), 6),
  ]);
  const found = answers.flatMap(({ addresses }) => addresses);
  if (found.length > 0) return found;
  if (answers.some(({ code }) => code !== 'ETIMEOUT')) return null;
  throw Object.assign(new Error(`No name server answered about ${host}`), { code: 'EAI_AGAIN' });
}

type Answer = { addresses: LookupAddress[]; code: string | undefined };

/** Asks one question. A failure is a part of the answer, because the other family may have addresses. */
function answerOf(
  ask: (done: (error: NodeJS.ErrnoException | null, addresses: string[]) => void) => void,
  family: 4 | 6,
): Promise<Answer> {
  return new Promise((resolve) => {
    ask((error, addresses) => {
      const found = error === null ? addresses.map((address) => ({ address, family })) : [];
      resolve({ addresses: found, code: error?.code });
    });
  });
}
