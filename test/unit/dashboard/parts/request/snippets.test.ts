import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { pythonLiteral, snippet } from '../../../../../dashboard/parts/request/snippets.ts';

type Call = { url: string; authorization: string | undefined; type: string | undefined; body: string };

/** Starts a server that notes calls; none of the snippets' programs may see a proxy. */
async function startGateway(t: Test, reply = '{"ok":true}'): Promise<{ url: string; calls: Call[] }> {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    const { authorization, 'content-type': type } = request.headers;
    calls.push({ url: request.url ?? '', authorization, type, body: await text(request) });
    response.setHeader('content-type', 'application/json').end(reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

async function run(command: string, parameters: string[], input: string): Promise<string> {
  const { PATH } = process.env;
  const env = { PATH, ASSAY_API_KEY: 'sk-assay-1', NO_PROXY: '*' };
  const child = spawn(command, parameters, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(input);
  return await text(child.stdout);
}

const BODY = {
  model: 'gpt-4o',
  messages: [
    {
      role: 'user',
      content: `It's $HOME \`id\` \${x} $(id) "quoted" \\ \n\t\r \u2028 é 日本 \u{1f600} {{x}} %s '''""" </script> !history`,
    },
  ],
  stream: false,
  stop: null,
  temperature: 0.7,
  __proto: { 'a"b': [true, [], {}] },
};

/** Returns why a program's test cannot run here; false when it can. */
function isMissing(program: string): string | false {
  return spawnSync(program, ['--version']).error !== undefined && `there is no ${program}`;
}

const programs = {
  curl: ['sh', []],
  javascript: [process.execPath, ['--input-type=module']],
  python: ['python3', ['-']],
} as const;

for (const kind of ['curl', 'javascript', 'python'] as const) {
  const [command, parameters] = programs[kind];
  const skip = isMissing(kind === 'curl' ? 'curl' : command);
  t.test(`the ${kind} of a call sends the call with the key of ASSAY_API_KEY`, { skip }, async (t) => {
    const { url, calls } = await startGateway(t);
    const call = { gatewayUrl: url, path: "/v1/chat/completions?a='b'", body: JSON.stringify(BODY) };
    t.match(await run(command, [...parameters], snippet(kind, call)), /ok/);
    t.equal(calls.length, 1);
    t.match(calls[0], { authorization: 'Bearer sk-assay-1', type: 'application/json' });
    t.match(calls[0]?.url, /^\/v1\/chat\/completions\?a=/);
    t.same(JSON.parse(calls[0]!.body), BODY);
  });
}

for (const kind of ['javascript', 'python'] as const) {
  const [command, parameters] = programs[kind];
  t.test(
    `the ${kind} of a call keeps numbers that no double holds`,
    { skip: isMissing(command) },
    async (t) => {
      const { url, calls } = await startGateway(t);
      const body = '{"seed":9223372036854775807,"tools":[{"maximum":12345678901234567890}],"top_p":1}';
      await run(command, [...parameters], snippet(kind, { gatewayUrl: url, path: '/p', body }));
      t.equal(calls[0]?.body.replaceAll(' ', ''), body);
    },
  );

  t.test(
    `the ${kind} of a call prints a stream, which is no JSON`,
    { skip: isMissing(command) },
    async (t) => {
      const { url } = await startGateway(t, 'data: {"choices":[]}\n\ndata: [DONE]\n\n');
      const call = { gatewayUrl: url, path: '/p', body: '{"stream":true}' };
      t.match(await run(command, [...parameters], snippet(kind, call)), /\[DONE\]/);
    },
  );
}

t.test('a shell takes any body as it is', async (t) => {
  const texts = fc.sample(fc.string({ unit: 'binary', maxLength: 60 }), { seed: 7, numRuns: 200 });
  const bodies = texts
    .map((one) => one.toWellFormed().replaceAll('\0', ''))
    .map((content) => JSON.stringify({ content }));
  const commands = bodies.map((body) =>
    snippet('curl', { gatewayUrl: 'http://g', path: '/p', body })
      .replace(/^curl/, `printf '%s\\n'`)
      .replace(/\n {2}-d/, '\n  -d'),
  );
  const { stdout } = spawnSync('sh', [], { input: commands.join('\n'), env: { ASSAY_API_KEY: 'k' } });
  const lines = stdout.toString().split('\n');
  t.same(
    bodies.map((_, index) => lines[index * 7 + 6]),
    bodies,
  );
});

t.test('a JSON value is the same value in Python', { skip: isMissing('python3') }, async (t) => {
  const values = fc.sample(fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }), { seed: 3, numRuns: 300 });
  const wanted = values.map((value) => JSON.parse(JSON.stringify(value)) as unknown);
  const program = `import json, sys\nfor line in sys.stdin:\n  print(json.dumps(eval(json.loads(line)), ensure_ascii=True))`;
  const { stdout } = spawnSync('python3', ['-c', program], {
    input: wanted.map((value) => JSON.stringify(pythonLiteral(value))).join('\n'),
    maxBuffer: 1e8,
  });
  const read = stdout.toString().trimEnd().split('\n');
  t.same(
    read.map((line) => JSON.parse(line) as unknown),
    wanted,
  );
});
