import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { type ProxyChoice, type ProxyConnectorOptions, proxyConnector } from '../proxy/mod.ts';
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

/**
 * Resolves a name here, though a proxy connects: the address checked is the one that the proxy is told. Were it told the
 * name, it would ask its own resolver, which may know the names inside this network, and could be answered otherwise. A
 * host that is admitted whatever its address goes to it by name.
 */
function checkedAddress(allow: AllowList, lookup: Lookup): ProxyConnectorOptions['resolve'] {
  return (host, done) => {
    if (isIP(host) !== 0 || allow.hasHost(host)) {
      done(null, host);
      return;
    }
    guardedLookup(allow, lookup)(host, { all: true }, (error, found) => {
      const addresses = found as LookupAddress[];
      // Whether the proxy has IPv6 is not known here.
      const address = addresses.find(({ family }) => family === 4) ?? addresses[0];
      done(error, address?.address ?? host);
    });
  };
}

/** Opens connections for undici, to allowed addresses only. */
export function guardedConnector(options: {
  allow: AllowList;
  connectMs: number;
  lookup?: Lookup | undefined;
  ca?: string | undefined;
  proxyFor: ProxyChoice;
}): buildConnector.connector {
  const { allow, connectMs, ca, lookup = systemLookup } = options;
  const connect = buildConnector({
    allowH2: false,
    timeout: connectMs,
    lookup: guardedLookup(allow, lookup),
    ...(ca === undefined ? {} : { ca }),
  });
  return (target, done) => {
    const isLiteral = isIP(target.hostname) !== 0;
    // Nobody looks an address up, so nothing above has seen this one.
    if (isLiteral && !allow.hasHost(target.hostname) && !allow.admits(target.hostname)) {
      queueMicrotask(() => done(new ForbiddenAddressError(), null));
      return;
    }
    const proxy = options.proxyFor(target);
    if (proxy !== null) {
      proxyConnector({ proxy, connectMs, ca, resolve: checkedAddress(allow, lookup) })(target, done);
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
