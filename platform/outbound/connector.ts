import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { type ProxyChoice, type ProxyConnectorOptions, proxyConnector } from '../proxy/mod.ts';
import type { AllowList } from './allow-list.ts';
import { createLookup, type Lookup } from './name-servers.ts';
import { plainConnector } from './plain-connector.ts';

/** The name or address does not lead to an allowed host. Fails the connection. */
export class ForbiddenAddressError extends Error {}

/**
 * Wraps a look-up so that it fails if any of the addresses is not allowed: a name with a public and a private address is an
 * attack. Node connects to the returned address without another look-up, so the address checked is the address connected to.
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
 * Resolves names before a proxy connects, so that the proxy gets the address that was checked. With the name, the proxy would
 * ask its own resolver, which may know names inside this network, or resolve it otherwise. A host that is allowed at any
 * address is passed on by name.
 */
function checkedAddress(allow: AllowList, lookup: Lookup): ProxyConnectorOptions['resolve'] {
  return (host, done) => {
    if (isIP(host) !== 0 || allow.hasHost(host)) {
      done(null, host);
      return;
    }
    guardedLookup(allow, lookup)(host, { all: true }, (error, found) => {
      const addresses = found as LookupAddress[];
      // IPv4 first: the proxy may have no IPv6.
      const address = addresses.find(({ family }) => family === 4) ?? addresses[0];
      done(error, address?.address ?? host);
    });
  };
}

/** Creates an undici connector that connects to allowed addresses only. */
export function guardedConnector(options: {
  allow: AllowList;
  connectMs: number;
  lookup?: Lookup | undefined;
  nameServers?: readonly string[] | undefined;
  ca?: string | undefined;
  proxyFor: ProxyChoice;
}): buildConnector.connector {
  const { allow, connectMs, ca } = options;
  const lookup = options.lookup ?? createLookup(allow, options.nameServers);
  const connect = plainConnector({
    allowH2: false,
    timeout: connectMs,
    lookup: guardedLookup(allow, lookup),
    ...(ca === undefined ? {} : { ca }),
  });
  return (target, done) => {
    const isLiteral = isIP(target.hostname) !== 0;
    // An address is not looked up, so `guardedLookup` does not check it.
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
      // A runtime that ignores `lookup` is caught here, before anything is sent.
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
