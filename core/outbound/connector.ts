import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AllowList } from './allow-list.ts';

/** All the addresses of a name. */
export type Lookup = (
  host: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Thrown into the socket: the name or the address leads where it must not. */
export class ForbiddenAddressError extends Error {}

/**
 * Resolves, and refuses when any of the addresses is not allowed: a name with a public and a private address is somebody
 * trying. Node connects to what this returns and asks nobody again, so the address checked is the address connected to.
 */
function guardedLookup(allow: AllowList, lookup: Lookup): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      const first = addresses?.[0];
      if (error !== null || first === undefined) {
        done(error ?? Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), [], 0);
        return;
      }
      if (!allow.hasHost(host) && !addresses.every(({ address }) => allow.admits(address))) {
        done(new ForbiddenAddressError(), [], 0);
        return;
      }
      if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

/** Opens connections for undici, to allowed addresses only. */
export function guardedConnector(options: {
  allow: AllowList;
  connectMs: number;
  lookup?: Lookup | undefined;
  ca?: string | undefined;
}): buildConnector.connector {
  const { allow } = options;
  const connect = buildConnector({
    allowH2: false,
    timeout: options.connectMs,
    lookup: guardedLookup(allow, options.lookup ?? systemLookup),
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  return (target, done) => {
    const isLiteral = isIP(target.hostname) !== 0;
    // Nobody looks an address up, so nothing above has seen this one.
    if (isLiteral && !allow.hasHost(target.hostname) && !allow.admits(target.hostname)) {
      queueMicrotask(() => done(new ForbiddenAddressError(), null));
      return;
    }
    connect(target, (...result) => {
      const [error, socket] = result;
      // A runtime that had not asked our look-up would be found out here, before anything is sent.
      const peer = error === null ? socket.remoteAddress : undefined;
      if (peer !== undefined && !allow.hasHost(target.hostname) && !allow.admits(peer)) {
        socket?.destroy();
        done(new ForbiddenAddressError(), null);
        return;
      }
      done(...result);
    });
  };
}
