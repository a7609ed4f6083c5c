/** What arrives at a port and is no request: told as errors are told there, then the connection is closed. */
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AssayError } from '../errors.ts';

export type MalformedOptions = {
  maxHeaderBytes: number;
  requestTimeoutMs: number;
  /** The body of an answer that tells of an error: JSON. */
  tell(error: AssayError): string;
};

type ParseError = Error & { code?: string; reason?: string };

/** A client whose request cannot be read may still read an answer. */
export function answerMalformed(server: Server, options: MalformedOptions): void {
  server.on('clientError', (error: ParseError, socket: Socket) => {
    const isAnswering = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage
      ?.headersSent;
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering === true) {
      socket.destroy();
      return;
    }
    const told = toAssayError(error, options);
    const body = options.tell(told);
    socket.end(
      `HTTP/1.1 ${told.status} ${STATUS_CODES[told.status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
}

function toAssayError({ code, reason, message }: ParseError, options: MalformedOptions): AssayError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AssayError(
        'headers_too_large',
        `The request's headers are larger than the ${options.maxHeaderBytes} bytes allowed`,
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AssayError(
        'request_timeout',
        `The request was not whole within ${options.requestTimeoutMs} ms`,
      );
    default:
      return new AssayError('invalid_http', `The request is not valid HTTP/1.1: ${reason ?? message}`);
  }
}
