import postgres from 'postgres';
import type { Sql } from './connect.ts';

export type ListenOptions = {
  /** The pool whose database is listened to, on a connection of its own. */
  sql: Sql;
  channel: string;
  onNotify(payload: string): void;
  /** Called when listening begins, at first and after every loss. Notifications in between are lost. */
  onListening(): void;
  /** Called when listening ends; no notifications come until `onListening` is called again. */
  onLost(): void;
  /** Time between statements that prove the connection alive, in milliseconds; shorter than the pool's `silenceMs`. */
  pulseMs?: number;
};

const RETRY_MS = 250;
const PULSE_MS = 15_000;

/**
 * Listens to a channel until `stop`, and reconnects after every loss. postgres.js's own `listen` tries to reconnect once, and
 * is then silent for ever.
 */
export function listen(options: ListenOptions): { stop(): Promise<void> } {
  let stopped = false;
  let listening = false;
  let retry: NodeJS.Timeout | undefined;

  const lose = () => {
    if (stopped) return;
    if (listening) options.onLost();
    listening = false;
    clearTimeout(retry);
    retry = setTimeout(begin, RETRY_MS);
  };
  const connection = postgres({
    ...options.sql.options,
    shared: { retries: 0, typeArrayMap: {} },
    max: 1,
    idle_timeout: null,
    max_lifetime: null,
    onclose: lose,
    onnotify: (channel: string, payload: string) => {
      if (channel === options.channel) options.onNotify(payload);
    },
  } as unknown as postgres.Options<Record<string, never>>);
  // Hours may pass without a notification: the responses to this statement show that the connection is alive.
  const pulse = setInterval(() => {
    if (listening) ask().catch(() => {});
  }, options.pulseMs ?? PULSE_MS);
  pulse.unref();
  const ask = () => connection`listen ${connection(options.channel)}`;
  const begin = () => {
    ask().then(() => {
      if (stopped) return;
      listening = true;
      options.onListening();
    }, lose);
  };

  begin();
  return {
    async stop() {
      stopped = true;
      clearTimeout(retry);
      clearInterval(pulse);
      await connection.end({ timeout: 1 });
    },
  };
}
