/** Proxies for outgoing calls: choosing one for an address, and opening connections through it (docs/guides/proxies.md). */
export {
  createProxyChoice,
  type HttpProxy,
  NO_PROXIES,
  type ProxyChoice,
  type ProxySettings,
  parseProxyAddress,
} from './http-proxy.ts';
export { parseNoProxy } from './no-proxy.ts';
export { type Opening, type OpeningHandler, whenOpen } from './opening.ts';
export { ProxyError } from './proxy-error.ts';
export { openThroughProxy, PROBE_MS } from './tunnel.ts';
export { type ProxyConnectorOptions, proxyConnector } from './undici-connector.ts';
