/** What `npm run bench peers -- --help` says beside its options. */
import { SCENARIOS } from './scenario.ts';

const scenarios = SCENARIOS.map(
  ({ name, isLong }, index) => `  ${index + 1}  ${name}${isLong ? ' (only when it is asked for)' : ''}`,
);

export const HELP = `
Targets: direct (the provider alone), ours, nginx where it is installed, bare-node (node:http and undici), portkey,
litellm where it is installed, "before" with --before, and those of --peers.

Scenarios:
${scenarios.join('\n')}

A file for --peers is a JSON list. A gateway in Go or Rust comes in by the path of its binary:

  [{
    "name": "my-gateway",
    "logs": "both bodies to SQLite, seconds later",
    "command": "/opt/my-gateway/bin/my-gateway",
    "args": ["--config", "{dir}/config.yaml", "--listen", "127.0.0.1:{port}"],
    "environment": { "RUST_LOG": "error", "GOMAXPROCS": "1" },
    "files": { "config.yaml": ["providers:", "  openai:", "    base_url: http://127.0.0.1:{providerPort}/v1"] },
    "path": "/v1/chat/completions",
    "headers": { "authorization": "Bearer sk-mine" },
    "readyPath": "/health",
    "versionArgs": ["--version"]
  }]

  name, logs, command   must be there. "logs" is what the gateway stores in this test; it is printed, not checked.
  {port}                where the gateway must listen, on 127.0.0.1
  {providerPort}        where the provider listens. It answers POSTs to any path as OpenAI does and takes any key.
  {dir}                 a temporary directory, where "files" are written and the gateway is started
  readyPath             a GET that is answered with less than status 500 once the gateway is ready; default /
  version               instead of versionArgs, where no argument prints it

A gateway is measured on one core: let it use one thread for its work (GOMAXPROCS=1, one worker). The model is
gpt-4o-mini. test/bench/peers/haproxy.json is a whole example.
`;
