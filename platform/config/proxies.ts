import {
  type HttpProxy,
  NO_PROXIES,
  type ProxySettings,
  parseNoProxy,
  parseProxyAddress,
} from '../proxy/mod.ts';
import type { EnvironmentReader } from './read.ts';

const NO_ADDRESS =
  'must be an address like http://user:password@proxy:3128, with http or https and without a path';
const NO_LIST = 'must be hosts, addresses or CIDRs, a port behind them or not, with commas between them';

/** The proxies that calls leave through. */
export function readProxies(reader: EnvironmentReader): ProxySettings {
  const proxy = (name: string) =>
    reader.shared<HttpProxy>(name, (text) => {
      const value = parseProxyAddress(text);
      return value === null ? { problem: NO_ADDRESS } : { value };
    });
  const https = proxy('HTTPS_PROXY');
  const http = proxy('HTTP_PROXY');
  const noProxy = reader.shared('NO_PROXY', (text) => {
    const read = parseNoProxy(text);
    return 'bypass' in read
      ? { value: text }
      : { problem: `${NO_LIST}, but entry ${read.badEntry} is none of these` };
  });
  return { https, http, noProxy: noProxy ?? NO_PROXIES.noProxy };
}
