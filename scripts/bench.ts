/** `npm run bench <name> [options]`: runs one of test/bench; each explains itself with --help. */
const BENCHES: Record<string, () => Promise<{ run(args: string[]): Promise<void> }>> = {
  bodies: () => import('../test/bench/bodies.ts'),
  evaluators: () => import('../test/bench/evaluators.ts'),
  findable: () => import('../test/bench/findable.ts'),
  gateway: () => import('../test/bench/gateway.ts'),
  ingest: () => import('../test/bench/ingest.ts'),
  outbox: () => import('../test/bench/outbox.ts'),
  limits: () => import('../test/bench/limits.ts'),
  outage: () => import('../test/bench/outage.ts'),
  query: () => import('../test/bench/query.ts'),
  translate: () => import('../test/bench/translate.ts'),
};

async function main(name: string | undefined, args: string[]): Promise<void> {
  const load = name === undefined ? undefined : BENCHES[name];
  if (load !== undefined) return (await load()).run(args);
  process.stderr.write(`Usage: npm run bench <${Object.keys(BENCHES).join('|')}> -- [options]\n`);
  process.exitCode = 1;
}

const [name, ...args] = process.argv.slice(2);
void main(name, args);
