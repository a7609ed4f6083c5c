/** Connections to the gateway, of the roles that call it. */
import type { buildConnector } from 'undici';
import { type ProxyChoice, proxyConnector } from '../proxy/mod.ts';
import { pinnedConnector } from './pinned-connector.ts';
import { plainConnector } from './plain-connector.ts';

export type GatewayConnectorOptions = {
  connectMs: number;
  /** The gateway's certificate, which alone is trusted; null: certificates that the system's authorities signed. */
  certFile: string | null;
  /** Returns the proxy for an address. Default: no proxy. */
  proxyFor?: ProxyChoice | undefined;
};

/** Makes undici's `connect`: direct to a gateway whose certificate is pinned, else through the proxy if one is set. */
export function gatewayConnector(
  url: URL,
  { connectMs, certFile, proxyFor }: GatewayConnectorOptions,
): buildConnector.connector {
  if (certFile !== null) return pinnedConnector({ certFile, timeoutMs: connectMs });
  const proxy = proxyFor?.(url) ?? null;
  return proxy === null
    ? plainConnector({ allowH2: false, timeout: connectMs })
    : proxyConnector({ proxy, connectMs });
}
