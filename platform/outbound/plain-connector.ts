/** undici's own `connect`, made with the first connection: until then, a process does without undici. */
import { buildConnector } from 'undici';
import { onFirstUse } from '../process/on-first-use.ts';

/** Makes the `connect` that undici makes of these options. */
export function plainConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = onFirstUse(() => buildConnector(options));
  return (target, callback) => connect.get()(target, callback);
}
