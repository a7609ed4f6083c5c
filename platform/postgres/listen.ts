import postgres from 'postgres';
import type { Sql } from './connect.ts';

export type ListenOptions = {
  /** To the same database as this pool, on a connection of its own. */
  sql: Sql;
  channel: string;
  onNotify(payload: string): void;
  /** The server is listening from now on, at first and after every loss; what came in between is lost. */
  onListening(): void;
  /** Nothing comes until `onListening` is called again. */
  onLost(): void;
  /** So often the server is asked again, to hear that it is there; less than the pool lets it be silent. */
  pulseMs?: number;
};

const RETRY_MS = 250;
const PULSE_MS = 15_000;

/**
 * Listens to a channel for as long as the process lives, whatever becomes of the connection. postgres.js's own `listen`
 * tries once to come back after a loss, and then is silent for ever.
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
  // Nothing comes for hours where nothing happens: the answers to this tell that the line is not dead.
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
