import { ERASURES_CHANNEL, ERASURES_SUBJECT } from '#core/contracts/channels.ts';
import { type NatsAddress, watchChanges } from '#platform/nats/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { listen, type Sql } from '#platform/postgres/mod.ts';
import type { ResponseCache } from './cache.ts';

export type ErasureWatchOptions = {
  cache: Pick<ResponseCache, 'forget' | 'recheck' | 'setListening'>;
  sql: Sql;
  /** The broker, which announces erasures too; null: there is none. */
  nats: NatsAddress | null;
  log: Logger;
};

/** Lets a cache forget the responses to erased requests, as soon as the erasure is committed. */
export function watchErasures({ cache, sql, nats, log }: ErasureWatchOptions): { stop(): Promise<void> } {
  const listening = listen({
    sql,
    channel: ERASURES_CHANNEL,
    // The organization's id comes first. It is not compared: an equal id of another organization costs that one a miss.
    onNotify: (payload) => cache.forget(payload.split(' ').slice(1)),
    onListening: () => cache.setListening(true),
    onLost: () => cache.setListening(false),
  });
  // The announcement names no requests.
  const onChange = () => cache.recheck();
  const watching =
    nats === null
      ? null
      : watchChanges({
          subject: ERASURES_SUBJECT,
          address: nats,
          name: 'assay-erasures',
          log,
          onChange,
        });
  return {
    stop: async () => {
      await Promise.all([listening.stop(), watching?.stop()]);
    },
  };
}
