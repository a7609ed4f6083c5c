/**
 * The image's health check: requests `/healthz` of the roles that this container runs, prints the responses, and ends with 0
 * when all are healthy. The roles come from the parameter, or from the command line of the container's first process, because
 * HEALTHCHECK does not know them.
 */
import { readFileSync } from 'node:fs';
import { Agent } from 'undici';
import { type Config, processEnvironment, readConfig } from '#platform/config/mod.ts';
import type { RoleName } from '../../supervisor/mod.ts';

/** Shorter than HEALTHCHECK's own timeout, so that this script prints the sentence. */
const TIMEOUT_MS = 4_000;

const LOOPBACK = '127.0.0.1';
const EVERY_ADDRESS: Record<string, string> = { '0.0.0.0': LOOPBACK, '::': '::1' };

type Address = { host: string; port: number; isTls: boolean };

/** The address of each role's health route. */
const ADDRESSES: Record<RoleName, (config: Config) => Address> = {
  gateway: ({ host, gatewayPort, tls }) => ({ host, port: gatewayPort, isTls: tls !== null }),
  api: ({ host, apiPort, tls }) => ({ host, port: apiPort, isTls: tls !== null }),
  ingest: ({ ingestPort }) => ({ host: LOOPBACK, port: ingestPort, isTls: false }),
  evaluators: ({ evaluatorsPort }) => ({ host: LOOPBACK, port: evaluatorsPort, isTls: false }),
};
const ROLES = Object.keys(ADDRESSES) as RoleName[];

/** Returns the first parameter of the program in a command line that may begin with an init, the runtime and its flags. */
function parameterOfContainer(): string | undefined {
  const parts = readFileSync('/proc/1/cmdline', 'utf8').split('\0').slice(0, -1);
  const program = parts.findIndex((part) => part.endsWith('/main.js'));
  if (program === -1) throw new Error('The first process of this container is not Assay: give the role');
  return parts[program + 1];
}

/** Returns the roles that run: all of them without a parameter, none for a command such as `migrate`. */
function rolesToCheck(parameter: string | undefined): RoleName[] {
  return parameter === undefined ? ROLES : ROLES.filter((role) => role === parameter);
}

/**
 * Accepts any TLS certificate: nothing secret is sent or read, and a container must not count as unhealthy because its
 * certificate has another name than this address, or is being renewed.
 */
async function checkHealth({ host, port, isTls }: Address): Promise<void> {
  const reachable = EVERY_ADDRESS[host] ?? host;
  const authority = reachable.includes(':') ? `[${reachable}]:${port}` : `${reachable}:${port}`;
  const { statusCode, body } = await new Agent({ connect: { rejectUnauthorized: false } }).request({
    origin: `${isTls ? 'https' : 'http'}://${authority}`,
    path: '/healthz',
    method: 'GET',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    reset: true,
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`it answers ${statusCode}`);
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

async function check(): Promise<void> {
  const result = readConfig(processEnvironment());
  if (!result.ok) throw new Error(result.problems.join('; '));
  for (const role of rolesToCheck(process.argv[2] ?? parameterOfContainer())) {
    await checkHealth(ADDRESSES[role](result.config)).catch((error: unknown) => {
      throw new Error(`The health of ${role}: ${reasonOf(error)}`);
    });
  }
}

try {
  await check();
  process.stdout.write('healthy\n');
} catch (error) {
  process.stdout.write(`${reasonOf(error)}\n`);
  process.exitCode = 1;
}
