/** Serves the API: what holds for every request, whatever its route. */
import { MAX_ITEMS_BODY_BYTES } from '#core/contracts/dataset.ts';
import type { Config } from '#platform/config/mod.ts';
import {
  createBodySlots,
  type ServerRequest,
  serve,
  warningBound,
  watchBodies,
  watchConnections,
} from '#platform/http-server/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Metrics } from '#platform/observability/metrics.ts';
import { mayHaveWritten, type Sql, withActor, withClient } from '#platform/postgres/mod.ts';
import { connectionBound, descriptorLimit } from '#platform/process/descriptors.ts';
import { availableMemory } from '#platform/process/memory.ts';
import type { KeptCertificate } from '#platform/tls/mod.ts';
import { failureBody, failureReply, toAssayError } from './routes/failure.ts';
import { holdRoomFor } from './routes/reply.ts';

/** Large bodies get this part of the memory, unless it is given in bytes: half of what they get in all gateways together. */
const BODIES_SHARE = 8;
/** The owner of bodies whose caller is not known yet. What strangers send and get is too small to need room, or shared by all calls. */
const STRANGERS = 'strangers';

type ServeApiOptions = {
  fetch(request: ServerRequest): Response | Promise<Response>;
  config: Config;
  /** Cancels the statements of clients that have disconnected. */
  keySql: Sql;
  certificate: KeptCertificate | null;
  /** Wakes the sinks, which follow the changes of records. */
  announceChanges(): void;
  metrics: Metrics;
  log: Logger;
};

/**
 * Serves the API's routes on their port.
 * @throws Error with one sentence when the port is taken
 */
export async function serveApi(options: ServeApiOptions) {
  const { config, keySql, metrics, log } = options;
  const answer = async (request: ServerRequest) => {
    const response = await options.fetch(request);
    try {
      // Its writes are committed. Routes that change records are not listed here, where one would be forgotten.
      if (mayHaveWritten()) options.announceChanges();
      else holdRoomFor(request, response);
      return response;
    } catch (error) {
      return failureReply(toAssayError(error));
    }
  };
  const bodySlots = createBodySlots({
    bytes: config.bodiesMemoryBytes ?? Math.floor(availableMemory() / BODIES_SHARE),
    maxBodyBytes: Math.max(config.maxBodyBytes, MAX_ITEMS_BODY_BYTES),
  });
  watchBodies(metrics, bodySlots);
  const server = await serve({
    fetch: (request) => {
      request.limitBody(bodySlots, STRANGERS);
      return withActor(() => withClient(request, keySql, () => answer(request)));
    },
    formatError: failureBody,
    compresses: true,
    host: config.host,
    port: config.apiPort,
    drainDelayMs: config.drainDelayMs,
    certificate: options.certificate,
    bound: warningBound(connectionBound(descriptorLimit(), false), log),
  });
  watchConnections(metrics, server.connections);
  return server;
}
