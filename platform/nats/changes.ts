/**
 * Announces to every process that keys, organizations or prompts changed, or that requests were erased. Postgres announces the same; NATS also reaches
 * processes whose connection to Postgres runs through a pooler that drops notifications.
 */
import type {
  ERASURES_SUBJECT,
  KEY_CHANGES_SUBJECT,
  PROMPT_CHANGES_SUBJECT,
} from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import { type ConnectNatsOptions, connectNats, connectOnce, type NatsConnection } from './connect.ts';

/** The subject of a kind of changes. */
type ChangeOptions = ConnectNatsOptions & {
  subject: typeof KEY_CHANGES_SUBJECT | typeof PROMPT_CHANGES_SUBJECT | typeof ERASURES_SUBJECT;
};

/** Announces a change that is committed. Does nothing when no server can be reached. */
export async function announceChange({ subject, ...options }: ChangeOptions): Promise<void> {
  const connection = await connectOnce(options);
  if (connection === null) return;
  connection.publish(subject);
  await connection.drain();
}

/** Calls `onChange` at each announcement, and after a lost connection, when an announcement may have been missed. */
export function watchChanges({ subject, ...options }: ChangeOptions & { onChange(): void }): {
  stop(): Promise<void>;
} {
  let connected: NatsConnection | null = null;
  let isStopped = false;
  const watch = async (): Promise<void> => {
    const connection = await connectNats(options);
    if (isStopped) return connection.close();
    connected = connection;
    connection.subscribe(subject, { callback: () => options.onChange() });
    for await (const { type } of connection.status()) if (type === 'reconnect') options.onChange();
  };
  watch().catch((error: unknown) => {
    options.log.error({ subject, error: describeError(error) }, 'cannot watch for changes over NATS');
  });
  return {
    stop: async () => {
      isStopped = true;
      await connected?.close();
    },
  };
}
