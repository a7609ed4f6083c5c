import type { HeldSocket } from './held-socket.ts';
import { portOf } from './port-of.ts';
import { PORT_VARIABLES } from './role-list.ts';
import {
  GIVEN_SOCKET_FD,
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
 * Starts the gateways, all on one port. The result is one role, whose processes are replaced one after the other.
 * @throws RoleDidNotStartError when a process ends before it serves; the others are killed by then
 */
export async function startGateways({ count, socket, ...options }: GatewaysOptions): Promise<RoleProcess> {
  const listensOn: Record<string, string> =
    socket === null ? { GATEWAY_SHARE_PORT: 'true' } : { GATEWAY_SOCKET_FD: String(GIVEN_SOCKET_FD) };
  const gateways: RoleProcess[] = [];
  const start = async (port: Record<string, string>) => {
    const environment = { ...options.environment, ...listensOn, ...port };
    const socketFd = socket?.fd ?? null;
    const role = { ...options, role: 'gateway', environment, portVariable: PORT, socketFd };
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
