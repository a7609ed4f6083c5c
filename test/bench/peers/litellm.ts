/** LiteLLM's proxy, installed from PyPI into an environment of its own. */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Peer } from './peer.ts';

const VERSION = '1.106.2';
const MASTER_KEY = 'sk-benchmark-master';

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'assay');
const venv = join(cache, `bench-litellm-${VERSION}`);
const program = join(venv, 'bin', 'litellm');
/** Written last: half an installation has the program too. */
const complete = join(venv, 'complete');

/** Whether it is installed. */
export function litellmIsInstalled(): boolean {
  return existsSync(complete);
}

function install(): void {
  process.stderr.write(`Installing LiteLLM ${VERSION} into ${venv} (several hundred megabytes) …\n`);
  const run = (command: string, ...args: string[]) => {
    if (spawnSync(command, args, { stdio: ['ignore', 2, 2] }).status === 0) return;
    throw new Error(`Cannot install LiteLLM: ${command} failed; its message is above`);
  };
  run('python3', '-m', 'venv', '--clear', venv);
  run(join(venv, 'bin', 'pip'), 'install', '--quiet', `litellm[proxy]==${VERSION}`);
  writeFileSync(complete, '');
}

/** Returns LiteLLM with a key of its own and no database, so that it logs nothing. Installs it when it is missing. */
export function litellm(): Peer {
  if (!litellmIsInstalled()) install();
  return {
    name: 'litellm',
    logs: 'nothing',
    command: program,
    args: ['--config', '{dir}/config.yaml', '--host', '127.0.0.1', '--port', '{port}', '--num_workers', '1'],
    environment: { LITELLM_LOG: 'ERROR', LITELLM_TELEMETRY: 'False', LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    files: {
      'config.yaml': [
        'model_list:',
        '  - model_name: gpt-4o-mini',
        '    litellm_params:',
        '      model: openai/gpt-4o-mini',
        '      api_base: http://127.0.0.1:{providerPort}/v1',
        '      api_key: sk-benchmark',
        'general_settings:',
        `  master_key: ${MASTER_KEY}`,
        'litellm_settings:',
        '  telemetry: false',
      ],
    },
    headers: { authorization: `Bearer ${MASTER_KEY}` },
    readyPath: '/health/liveliness',
    version: VERSION,
  };
}
