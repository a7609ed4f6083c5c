/** Sends large bodies from a thread of its own, where the provider is too that they are relayed to. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export type Sending = {
  url: string;
  headers: Record<string, string>;
  /** One of FAMILY_NAMES, enclosed by `head` and `tail`. */
  family: string;
  bytes: number;
  head: string;
  tail: string;
  isPacked: boolean;
  /** Its last byte is missing. */
  isTorn: boolean;
  /** Only the end of the answer is handed back: this thread would be held up by a long one. Absent: all of it. */
  lastCharacters?: number;
};

export type Sent = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  sentBytes: number;
  ms: number;
};

export type Sender = {
  /**
   * Answers every body in OpenAI's or Anthropic's dialect; with `/v1`. Where embeddings are asked for the answer has 7 MiB,
   * and is packed if gzip is accepted. To `/responses` it is a stream of `"max_output_tokens"` events of text, of some 200
   * bytes each.
   */
  providerUrl: string;
  /** One at a time. */
  send(sending: Sending): Promise<Sent>;
  stop(): Promise<void>;
};

/** Starts the thread. */
export async function startSender(): Promise<Sender> {
  const worker = new Worker(new URL('./sender-thread.ts', import.meta.url));
  const [{ providerUrl }] = (await once(worker, 'message')) as [{ providerUrl: string }];
  return {
    providerUrl,
    send: async (sending) => {
      const answered = once(worker, 'message');
      worker.postMessage(sending);
      const [sent] = (await answered) as [Sent];
      return sent;
    },
    stop: async () => void (await worker.terminate()),
  };
}
