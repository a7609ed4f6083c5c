import type { Socket } from 'node:net';

/** Who waits for a connection. One of the two is called, once. */
export type OpeningHandler = {
  /** It can be used: after the TLS handshake where there is one. */
  onOpen(socket: Socket): void;
  /** It closed before that. */
  onClosed(error: Error | null): void;
};

/** A connection that is being opened. */
export type Opening = { destroy(): void };

/** Tells how the opening of a socket ends. */
export function whenOpen(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  { onOpen, onClosed }: OpeningHandler,
): void {
  let error: Error | null = null;
  const noteError = (cause: Error): void => {
    error = cause;
  };
  const close = (): void => onClosed(error);
  socket.once('error', noteError).once('close', close);
  socket.once(event, () => {
    socket.off('error', noteError).off('close', close);
    onOpen(socket);
  });
}
