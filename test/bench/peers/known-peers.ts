/** The peers that need no file: nginx, bare Node, and Portkey's gateway. LiteLLM's is in litellm.ts. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Peer } from './peer.ts';

const PROVIDER_KEY = 'sk-benchmark';
/** Every call is a connection on either side. */
const NGINX_CONNECTIONS = 8_192;

/** nginx as a proxy: what no gateway undercuts. Null where it is not installed. */
export function nginx(): Peer | null {
  if (spawnSync('nginx', ['-v']).status !== 0) return null;
  return {
    name: 'nginx',
    logs: 'nothing',
    command: 'nginx',
    args: ['-p', '{dir}', '-c', '{dir}/nginx.conf', '-e', '{dir}/error.log'],
    files: {
      'nginx.conf': `
daemon off;
worker_processes 1;
# Else the worker of a root's nginx is another account's, which may not write into this directory.
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_rlimit_nofile ${NGINX_CONNECTIONS * 2};
pid {dir}/nginx.pid;
error_log {dir}/error.log;
events { worker_connections ${NGINX_CONNECTIONS}; }
http {
  access_log off;
  client_max_body_size 64m;
  # In memory, as the gateways have them.
  client_body_buffer_size 1m;
  client_body_temp_path {dir}/body;
  proxy_temp_path {dir}/proxy;
  fastcgi_temp_path {dir}/fastcgi;
  uwsgi_temp_path {dir}/uwsgi;
  scgi_temp_path {dir}/scgi;
  keepalive_requests 1000000000;
  upstream provider {
    server 127.0.0.1:{providerPort};
    keepalive 2048;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:{port} backlog=4096;
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}`,
    },
    headers: { authorization: `Bearer ${PROVIDER_KEY}` },
    versionArgs: ['-v'],
  };
}

function versionInPackage(file: string): string {
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** node:http and undici with nothing between: what a gateway in Node cannot undercut without other parts. */
export function bareNode(): Peer {
  const script = fileURLToPath(new URL('bare-proxy.ts', import.meta.url));
  const undici = fileURLToPath(new URL('../../../node_modules/undici/package.json', import.meta.url));
  return {
    name: 'bare-node',
    logs: 'nothing',
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', script, '{port}', '{providerPort}'],
    headers: { authorization: `Bearer ${PROVIDER_KEY}` },
    version: `${process.versions.node}, undici ${versionInPackage(undici)}`,
  };
}

/** Portkey's gateway, as its package starts it, with a repair without which its streams fail. */
export function portkey(): Peer {
  const script = import.meta.resolve('@portkey-ai/gateway/build/start-server.js');
  const preload = new URL('portkey-preload.ts', import.meta.url).href;
  return {
    name: 'portkey',
    logs: 'nothing',
    command: process.execPath,
    args: [
      '--disable-warning=ExperimentalWarning',
      `--import=${preload}`,
      fileURLToPath(script),
      '--headless',
      '--port={port}',
    ],
    environment: { NODE_ENV: 'production' },
    headers: {
      authorization: `Bearer ${PROVIDER_KEY}`,
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': 'http://127.0.0.1:{providerPort}/v1',
    },
    version: `${versionInPackage(fileURLToPath(new URL('../package.json', script)))}, repaired for streams`,
  };
}
