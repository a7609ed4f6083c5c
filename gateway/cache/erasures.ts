import { ERASURES_CHANNEL, ERASURES_SUBJECT } from '#core/contracts/channels.ts';
import type { ChangeWatcher } from '#platform/nats/mod.ts';
import type { Listener } from '#platform/postgres/mod.ts';
import type { ResponseCache } from './cache.ts';

export type ErasureWatchOptions = {
  cache: Pick<ResponseCache, 'forget' | 'recheck' | 'setListening'>;
  listener: Listener;
  /** Where erasures are announced too. */
  watcher: ChangeWatcher;
};

/** Lets a cache forget the responses to erased requests, as soon as the erasure is committed. */
export function watchErasures({ cache, listener, watcher }: ErasureWatchOptions): { stop(): Promise<void> } {
  const listening = listener.listen({
    channel: ERASURES_CHANNEL,
    // The organization's id comes first. It is not compared: an equal id of another organization costs that one a miss.
    onNotify: (payload) => cache.forget(payload.split(' ').slice(1)),
    onListening: () => cache.setListening(true),
    onLost: () => cache.setListening(false),
  });
  // The announcement names no requests.
  const watching = watcher.watch({ subject: ERASURES_SUBJECT, onChange: () => cache.recheck() });
  return {
    stop: async () => {
      await Promise.all([listening.stop(), watching.stop()]);
    },
  };
}
