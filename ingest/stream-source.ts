/** The log stream as a source of log entries. */
import type { Config } from '#platform/config/mod.ts';
import { checkNats } from '#platform/log-pipeline/stream/mod.ts';
import { connectNats, type NatsConnection, publicAddresses } from '#platform/nats/mod.ts';
import { StreamConsumer } from './consume.ts';
import type { Source, SourceOptions } from './source.ts';

/**
 * Reads the log stream, as soon as a server can be reached.
 * @throws NatsRefusalError when waiting would not help
 */
export async function consumeStream(
  address: NonNullable<Config['nats']>,
  source: SourceOptions,
): Promise<Source> {
  const { log } = source;
  const options = { address, name: 'assay-ingest', log };
  await checkNats({ ...options, use: 'reads' });
  // Not awaited: health is served, and a stop is possible, before there is a connection.
  let connected: { connection: NatsConnection; consumer: StreamConsumer } | null = null;
  const running = connectNats(options).then((connection) => {
    connected = { connection, consumer: new StreamConsumer({ ...source, connection }) };
    return connected.consumer.run();
  });
  log.info({ servers: publicAddresses(address) }, 'ingest reads from NATS');
  return {
    check: async () => {
      if (connected === null) throw new Error('not connected');
      await connected.connection.flush();
    },
    failingOutboxes: () => 0,
    stop: async () => {
      if (connected === null) return;
      connected.consumer.stop();
      await running;
      await connected.connection.close();
    },
  };
}
