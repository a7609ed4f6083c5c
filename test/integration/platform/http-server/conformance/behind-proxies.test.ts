/**
 * Requests that parsers disagree about, sent through proxies that keep one connection to the server: whatever a proxy
 * makes of such a request, the next client is answered for its own. Runs where nginx, HAProxy and Caddy are installed,
 * which a release asks for: `npm test -- test/integration/platform/http-server/conformance/behind-proxies.test.ts`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Reply, readBody, serve } from '#platform/http-server/mod.ts';
import { freePort } from '../../../../support/free-port.ts';
import { PROXIES, type ReverseProxy } from './proxies.ts';
import { REQUEST_CASES } from './request-cases.ts';
import { SMUGGLED } from './smuggled.ts';

const MAX_BODY_BYTES = 1_000_000;
/** For an answer to a request that may never be whole, after which its client leaves. */
const PATIENCE_MS = 100;
const VICTIM_MS = 10_000;
/** Other clients' requests at the time of each probe. */
const VICTIMS = 3;

/** Sends bytes, and resolves with what came back once `isEnough` of it did, the connection ended, or time is up. */
async function ask(
  port: number,
  bytes: string,
  waitMs: number,
  isEnough: (text: string) => boolean,
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = '';
  socket.on('data', (piece) => {
    text += piece.toString('latin1');
    if (isEnough(text)) resolve();
  });
  socket.on('error', () => resolve());
  socket.on('close', () => resolve());
  socket.write(bytes, 'latin1');
  const timer = setTimeout(resolve, waitMs);
  await promise;
  clearTimeout(timer);
  socket.destroy();
  return text;
}

/** Answers with what was asked, so that each client sees whose answer it got. */
async function echo(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const body = (await readBody(request, MAX_BODY_BYTES)).toString('latin1');
  return new Reply(`<${request.method} ${pathname} ${body}>`);
}

/** Starts a proxy before a server, and returns its port. */
async function startProxy(t: Test, proxy: ReverseProxy): Promise<number> {
  const server = await serve({ host: '127.0.0.1', port: 0, fetch: echo });
  const directory = mkdtempSync(join(tmpdir(), `assay-${proxy.name}-`));
  const listen = await freePort();
  for (const [name, text] of Object.entries(proxy.files({ listen, upstream: server.port }, directory)))
    writeFileSync(join(directory, name), text);
  const env = { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory };
  const child = spawn(proxy.name, proxy.args(directory), { stdio: ['ignore', 'ignore', 'pipe'], env });
  let said = '';
  child.stderr.on('data', (piece) => {
    said += piece.toString();
  });
  const exited = once(child, 'exit');
  t.teardown(async () => {
    child.kill();
    await exited;
    await server.close(0);
    rmSync(directory, { recursive: true, force: true });
  });
  for (let tries = 0; tries < 100; tries += 1) {
    if (child.exitCode !== null) throw new Error(`${proxy.name} ended: ${said}`);
    if ((await victim(listen, 'start', 1_000)).includes('<GET /start >')) return listen;
    await sleep(100);
  }
  throw new Error(`${proxy.name} does not answer: ${said}`);
}

function victim(port: number, name: string, waitMs: number): Promise<string> {
  const bytes = `GET /${name} HTTP/1.1\r\nHost: cases.test\r\nConnection: close\r\n\r\n`;
  return ask(port, bytes, waitMs, (text) => text.includes('>'));
}

for (const proxy of PROXIES) {
  const isInstalled = spawnSync(proxy.name, ['-v']).error === undefined;
  t.test(
    `no request that parsers disagree about reaches another client's answer through ${proxy.name}`,
    { timeout: 300_000, skip: isInstalled ? false : `${proxy.name} is not installed` },
    async (t) => {
      const port = await startProxy(t, proxy);
      let passed = 0;
      const probes = [...REQUEST_CASES, ...SMUGGLED];
      for (const [index, { name, stream }] of probes.entries()) {
        const probe = ask(port, stream, PATIENCE_MS, (text) => text.includes('<GET /next >'));
        // Some are under way meanwhile, and so may get its connection the moment that it is free; one comes behind it.
        const victims = Array.from({ length: VICTIMS }, (_, place) =>
          victim(port, `victim-${index}-${place}`, VICTIM_MS),
        );
        if ((await probe).includes(' 200 ')) passed += 1;
        victims.push(victim(port, `victim-${index}-${VICTIMS}`, VICTIM_MS));
        for (const [place, got] of (await Promise.all(victims)).entries()) {
          t.match(got, `<GET /victim-${index}-${place} >`, name);
          t.notMatch(got, /evil|next/, name);
        }
      }
      t.ok(passed > 20, `${proxy.name} passed ${passed} of ${probes.length} on`);
    },
  );
}
