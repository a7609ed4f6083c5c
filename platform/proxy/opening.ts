import type { Socket } from 'node:net';

/** Callbacks for the opening of a connection. One of the two is called, once. */
export type OpeningHandler = {
  /** Called when the connection can be used, after the TLS handshake if there is one. */
  onOpen(socket: Socket): void;
  /** Called when the connection closed before that. */
  onClosed(error: Error | null): void;
};

/** A connection that is being opened. */
export type Opening = { destroy(): void };

/** Calls the handler when a socket is open or has failed. */
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
