/** `npm run bench <name> [options]`: runs one benchmark; each explains itself with --help. */
const BENCHES: Record<string, () => Promise<{ run(args: string[]): Promise<void> }>> = {
  bodies: () => import('./bodies.ts'),
  comparison: () => import('./comparison.ts'),
  cost: () => import('./cost.ts'),
  dashboard: () => import('./dashboard.ts'),
  evaluators: () => import('./evaluators.ts'),
  export: () => import('./export.ts'),
  findable: () => import('./findable.ts'),
  gateway: () => import('./gateway.ts'),
  idle: () => import('./idle.ts'),
  ingest: () => import('./ingest.ts'),
  outbox: () => import('./outbox.ts'),
  limits: () => import('./limits.ts'),
  metrics: () => import('./metrics.ts'),
  outage: () => import('./outage.ts'),
  peers: () => import('./peers.ts'),
  query: () => import('./query.ts'),
  rows: () => import('./rows.ts'),
  scan: () => import('./scan.ts'),
  seed: () => import('./seed.ts'),
  statistics: () => import('./statistics.ts'),
  translate: () => import('./translate.ts'),
  webhooks: () => import('./webhooks.ts'),
};

async function main(name: string | undefined, args: string[]): Promise<void> {
  const load = name === undefined ? undefined : BENCHES[name];
  if (load !== undefined) return (await load()).run(args);
  process.stderr.write(`Usage: npm run bench <${Object.keys(BENCHES).join('|')}> -- [options]\n`);
  process.exitCode = 1;
}

const [name, ...args] = process.argv.slice(2);
void main(name, args);
