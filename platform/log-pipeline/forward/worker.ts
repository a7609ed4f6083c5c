/** The thread of the forwarder: see thread.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { connectNats } from '../../nats/mod.ts';
import { createLogger } from '../../observability/log.ts';
import { Forwarder } from './forwarder.ts';
import type { ForwarderState, ForwarderThreadData } from './thread.ts';

const STATE_EVERY_MS = 1_000;

const { address, root, ownId, role, logLevel } = workerData as ForwarderThreadData;
const port = parentPort!;
const log = createLogger({ role, level: logLevel });

let isStopping = false;
let forwarder: Forwarder | null = null;
port.on('message', () => {
  isStopping = true;
  forwarder?.stop();
});

const connection = await connectNats({ address, name: `assay-${role}-forwarder`, log });
forwarder = new Forwarder({ connection, root, ownId, log });
if (isStopping) forwarder.stop();
const reporting = setInterval(() => {
  const { unconfirmed, ownStored, failingOutboxes } = forwarder;
  port.postMessage({ unconfirmed, ownStored, failingOutboxes } satisfies ForwarderState);
}, STATE_EVERY_MS);
await forwarder.run();
forwarder.release();
clearInterval(reporting);
await connection.close();
port.close();
