import type { HeldSocket } from './held-socket.ts';
import { portOf } from './port-of.ts';
import { PORT_VARIABLES } from './role-list.ts';
import {
  FIRST_GIVEN_FD,
  type RoleProcess,
  type RoleProcessOptions,
  startRoleProcess,
} from './role-process.ts';

export type GatewaysOptions = Pick<RoleProcessOptions, 'command' | 'parameters' | 'environment' | 'log'> & {
  /** Number of processes that share the port. */
  count: number;
  /** The socket that the gateways listen on; null: each binds the port itself, shared with the others (SO_REUSEPORT). */
  socket: HeldSocket | null;
};

const PORT = PORT_VARIABLES.gateway;

/**
 * Connections that all gateways together accept in a turn of their event loops (decision 0019). Each costs a new connection a system
 * call that mostly finds nothing, and one gateway may take as many before another is awake.
 */
const ACCEPTED_A_TURN = 8;

/**
 * Starts the gateways, all on one port. The result is one role, whose processes are replaced one after the other.
 * @throws RoleDidNotStartError when a process ends before it serves; the others are killed by then
 */
export async function startGateways({ count, socket, ...options }: GatewaysOptions): Promise<RoleProcess> {
  const copies = Math.max(1, Math.floor(ACCEPTED_A_TURN / count));
  const givenFds = socket === null ? [] : Array.from({ length: copies }, () => socket.fd);
  const listensOn: Record<string, string> =
    socket === null
      ? { GATEWAY_SHARE_PORT: 'true' }
      : { GATEWAY_SOCKET_FD: String(FIRST_GIVEN_FD), GATEWAY_SOCKET_FDS: String(copies) };
  const gateways: RoleProcess[] = [];
  const start = async (port: Record<string, string>) => {
    const environment = { ...options.environment, ...listensOn, ...port };
    const role = { ...options, role: 'gateway', environment, portVariable: PORT, givenFds };
    gateways.push(await startRoleProcess(role));
  };
  const kill = () => {
    for (const gateway of gateways) gateway.kill();
  };
  // The first process determines the port.
  await start({});
  const { address } = gateways[0]!;
  const port = { [PORT]: portOf(address!) };
  const others = Array.from({ length: count - 1 }, () => start(port));
  const failed = (await Promise.allSettled(others)).find((other) => other.status === 'rejected');
  if (failed !== undefined) {
    kill();
    throw failed.reason;
  }
  return {
    address,
    async replace(deadlineMs) {
      for (const gateway of gateways) await gateway.replace(deadlineMs);
    },
    async stop(deadlineMs) {
      await Promise.all(gateways.map((gateway) => gateway.stop(deadlineMs)));
    },
    kill,
  };
}
