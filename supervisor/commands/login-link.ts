import { Command } from 'commander';
import type { Config } from '#platform/config/mod.ts';
import { dashboardAddress, LINK_RULE, makeLoginLink, takesLogin } from '../login-link.ts';
import type { RunCommand } from './keys.ts';

/** What the command needs beside the database. */
export type LoginLinkEnvironment = {
  config: Pick<Config, 'publicUrl' | 'hasDashboard' | 'apiPort'>;
  /** The API's address by this configuration. */
  api: string;
};

/** Returns the dashboard's address, or throws a sentence when no link to it would work. */
function addressOf({ config, api }: LoginLinkEnvironment): string {
  if (!config.hasDashboard) throw new Error('API_DASHBOARD is false: there is no dashboard to log in to');
  if (config.apiPort === 0 && config.publicUrl === null) {
    throw new Error('API_PORT is 0, so the address of the dashboard is not known: set PUBLIC_URL');
  }
  if (!takesLogin(config, api)) {
    throw new Error(`HOST is not loopback, so the dashboard needs an https address in PUBLIC_URL`);
  }
  return dashboardAddress(config, api);
}

/** `login-link` */
export function loginLinkCommand(run: RunCommand, environment: () => LoginLinkEnvironment): Command {
  return new Command('login-link')
    .description(`make a link to the dashboard that logs a browser in; it ${LINK_RULE}`)
    .option(
      '--key <id or prefix>',
      'the key to log in as; default: the oldest one with the scope read and all paths',
    )
    .action(async ({ key = null }: { key?: string | null }) => {
      const address = addressOf(environment());
      await run(async (sql) => {
        const link = await makeLoginLink(sql, { address, key, nowMs: Date.now() });
        if (link === null) throw new Error('There is no key with the scope read to log in as');
        return link;
      });
    });
}
