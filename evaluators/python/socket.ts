/** The private socket that children connect to, in its own directory, which only this user can enter. */
import { mkdtempSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDataDirectory } from '#platform/process/data-directory.ts';

const PREFIX = 'assay-python-';
/** The name is repeated in zygote.py. */
const SOCKET = 'socket';
/** The kernel's limit for the path of a socket. */
const MAX_PATH_BYTES = 107;
const ID_BYTES = 4;
/** Children send their id as soon as they are ready; a connection without one is not a child's. */
const ID_TIMEOUT_MS = 5_000;

/** A listening socket, and its directory. */
export type PrivateSocket = {
  directory: string;
  /** Stops listening and removes the directory. */
  close(): Promise<void>;
};

/**
 * Removes the socket and the directory, never a tree: in a place that all users can write to, another user may have made
 * it. Anything that cannot be removed stays.
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

/** Removes the directories of killed processes: those whose socket refuses connections. */
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

/** Reads the id that a child sends first. */
function readChildId(socket: Socket, onChild: (id: number, socket: Socket) => void): void {
  // A child that is killed resets its connection; the zygote reports its end.
  socket.on('error', () => {});
  socket.setTimeout(ID_TIMEOUT_MS, () => socket.destroy());
  // The child writes its id at once and then waits for its job, so the first chunk is the id alone.
  socket.once('data', (hello: Buffer) => {
    if (hello.length !== ID_BYTES) return socket.destroy();
    socket.setTimeout(0);
    onChild(hello.readUInt32BE(0), socket);
  });
}

/**
 * Listens in a new directory below `parent`, which is made where it is missing, or below the system's temporary directory when that
 * path is too long.
 * `onChild` is called with each connection whose child has sent its id.
 * @throws when the directory or the socket cannot be made
 */
export async function listenPrivately(
  parent: string,
  onChild: (id: number, socket: Socket) => void,
): Promise<PrivateSocket> {
  // Evaluators that run by themselves are the first to need DATA_DIR. Its mode is that of the supervisor's.
  makeDataDirectory(parent, 0o711);
  await removeAbandoned(parent);
  const directory = makeDirectory(parent);
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    readChildId(socket, onChild);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(join(directory, SOCKET), resolve);
  });
  // Without free descriptors a connection is refused; its child ends and another is forked.
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
