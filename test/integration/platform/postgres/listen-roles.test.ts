/** How many connections a role listens on. */
import t from 'tap';
import {
  ERASURES_CHANNEL,
  EVALUATIONS_CHANNEL,
  KEYS_CHANNEL,
  PROMPTS_CHANNEL,
  RUNS_CHANNEL,
  TRIAL_RESULTS_CHANNEL,
  TRIALS_CHANNEL,
} from '#core/contracts/channels.ts';
import { waitFor } from '../../../support/assay.ts';
import { createWorld } from '../../../support/world.ts';

const ROLES = [
  { role: 'gateway', channels: [KEYS_CHANNEL, PROMPTS_CHANNEL, ERASURES_CHANNEL] },
  { role: 'api', channels: [KEYS_CHANNEL, TRIAL_RESULTS_CHANNEL] },
  {
    role: 'evaluators',
    channels: [EVALUATIONS_CHANNEL, RUNS_CHANNEL, TRIALS_CHANNEL],
    port: 'EVALUATORS_PORT',
  },
] as const;

for (const { role, channels, ...rest } of ROLES) {
  t.test(`the role ${role} listens to its channels on one connection`, async (t) => {
    const world = await createWorld(t);
    const started = await world.start(role, 'port' in rest ? { [rest.port]: '0' } : {});
    /** The last statement of each connection that listens. */
    const listening = async () => {
      const rows = await world.sql<{ pid: number; query: string }[]>`
        select pid, query from pg_stat_activity
         where datname = current_database() and query ilike 'listen %' order by pid`;
      return [...rows];
    };
    // A part that joins is asked for in a statement of its own: the channels of the connection show once it is replaced.
    await waitFor('it to listen', async () => (await listening()).length > 0);
    const hasAll = (query: string) => channels.every((channel) => query.includes(`"${channel}"`));
    await waitFor('one connection with all channels', async () => {
      const connections = await listening();
      if (connections.length === 1 && hasAll(connections[0]!.query)) return true;
      for (const { pid } of connections) await world.sql`select pg_terminate_backend(${pid})`;
      return false;
    });
    t.equal((await listening()).length, 1);
    await started.stop();
    await waitFor('the connection to be closed', async () => (await listening()).length === 0);
  });
}
