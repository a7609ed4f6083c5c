/** The private socket that children connect to, in a directory of its own that only this user can enter. */
import { mkdtempSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'assay-python-';
/** As zygote.py knows it. */
const SOCKET = 'socket';
/** What the kernel takes as the path of a socket. */
const MAX_PATH_BYTES = 107;
const ID_BYTES = 4;
/** Children say their id as soon as they are ready; who does not is none. */
const HELLO_MS = 5_000;

export type PrivateSocket = {
  directory: string;
  /** Stops listening and removes the directory. */
  close(): Promise<void>;
};

/**
 * Just the socket and the directory: never a tree, as somebody else may have made it in a place that all can write to.
 * What cannot be removed stays.
 */
function removeDirectory(directory: string): void {
  for (const remove of [() => unlinkSync(join(directory, SOCKET)), () => rmdirSync(directory)]) {
    try {
      remove();
    } catch {
      // The socket may not have been made, or a closing server has removed it.
    }
  }
}

/** What a process left that was killed: directories whose socket nobody listens on. */
async function removeAbandoned(parent: string): Promise<void> {
  const names = readdirSync(parent).filter((name) => name.startsWith(PREFIX));
  const isAbandoned = (directory: string) =>
    new Promise<boolean>((resolve) => {
      const socket = connect(join(directory, SOCKET));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
      socket.once('connect', () => {
        socket.destroy();
        resolve(false);
      });
    });
  for (const name of names) {
    const directory = join(parent, name);
    if (await isAbandoned(directory)) removeDirectory(directory);
  }
}

function makeDirectory(parent: string): string {
  const directory = mkdtempSync(join(parent, PREFIX)); // 0700
  if (Buffer.byteLength(join(directory, SOCKET)) <= MAX_PATH_BYTES) return directory;
  rmdirSync(directory);
  return mkdtempSync(join(tmpdir(), PREFIX));
}

/** Waits for the id that a child says first. */
function greet(socket: Socket, onChild: (id: number, socket: Socket) => void): void {
  // A child that is killed resets its connection: its end is what tells.
  socket.on('error', () => {});
  socket.setTimeout(HELLO_MS, () => socket.destroy());
  // Written at once, by a child that then waits for its job.
  socket.once('data', (hello: Buffer) => {
    if (hello.length !== ID_BYTES) return socket.destroy();
    socket.setTimeout(0);
    onChild(hello.readUInt32BE(0), socket);
  });
}

/**
 * Listens in a new directory below `parent`, or below the system's for temporary files when that path is too long.
 * `onChild` gets each connection whose child has said its id.
 * @throws when the directory or the socket cannot be made
 */
export async function listenPrivately(
  parent: string,
  onChild: (id: number, socket: Socket) => void,
): Promise<PrivateSocket> {
  await removeAbandoned(parent);
  const directory = makeDirectory(parent);
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    greet(socket, onChild);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(join(directory, SOCKET), resolve);
  });
  // Without descriptors a connection is refused, and so the child ends: another is forked.
  server.on('error', () => {});
  return {
    directory,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      removeDirectory(directory);
    },
  };
}
