/** A receiver of webhooks on a real socket: notes what comes, and answers as a test says. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Owner } from './world.ts';

/** A message as it came. */
export type Message = {
  id: string;
  atMs: number;
  headers: IncomingHttpHeaders;
  text: string;
  body: { type: string; timestamp: string; data: Record<string, unknown> };
};

export type Receiver = {
  url: string;
  port: number;
  received: Message[];
  /** Answers a message; at first with an empty 204. */
  answer: (response: ServerResponse, message: Message) => void;
  /** Closes the port and every connection; `start` opens the same port again. */
  stop(): Promise<void>;
  start(): Promise<void>;
};

/** Starts one, until the test ends. */
export async function startReceiver(owner: Owner): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const id = String(request.headers['webhook-id']);
      const message = { id, atMs: Date.now(), headers: request.headers, text, body: JSON.parse(text) };
      receiver.received.push(message);
      receiver.answer(response, message);
    });
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received: [],
    answer: (response) => response.writeHead(204).end(),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
    start: () => listen(port),
  };
  owner.teardown(() => receiver.stop());
  return receiver;
}

/** Verifies a message by the library of Standard Webhooks. @throws WebhookVerificationError */
export function verify(secret: string, { text, headers }: Message): unknown {
  return new Webhook(secret).verify(text, headers as Record<string, string>);
}
