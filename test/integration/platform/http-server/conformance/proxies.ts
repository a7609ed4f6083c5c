/** Proxies as their users configure them, each with at most one kept connection to the server behind it. */

export type ReverseProxy = {
  name: 'nginx' | 'haproxy' | 'caddy';
  /** Names of files in a directory of its own, and what is in them. */
  files(ports: Ports, directory: string): Record<string, string>;
  /** What starts it in the foreground. */
  args(directory: string): string[];
};

export type Ports = { listen: number; upstream: number };

const nginx: ReverseProxy = {
  name: 'nginx',
  files: ({ listen, upstream }, directory) => ({
    'nginx.conf': `daemon off;
master_process off;
worker_processes 1;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  upstream gateway { server 127.0.0.1:${upstream}; keepalive 1; }
  server {
    listen 127.0.0.1:${listen};
    location / {
      proxy_pass http://gateway;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_request_buffering off;
      proxy_buffering off;
    }
  }
}
`,
  }),
  args: (directory) => ['-p', directory, '-c', `${directory}/nginx.conf`, '-e', `${directory}/error.log`],
};

const haproxy: ReverseProxy = {
  name: 'haproxy',
  files: ({ listen, upstream }) => ({
    'haproxy.cfg': `global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
  http-reuse always
frontend front
  bind 127.0.0.1:${listen}
  default_backend gateway
backend gateway
  server one 127.0.0.1:${upstream} maxconn 1 pool-max-conn 1
`,
  }),
  args: (directory) => ['-db', '-f', `${directory}/haproxy.cfg`],
};

const caddy: ReverseProxy = {
  name: 'caddy',
  files: ({ listen, upstream }) => ({
    Caddyfile: `{
  admin off
  auto_https off
}
http://127.0.0.1:${listen}, http://:${listen} {
  bind 127.0.0.1
  reverse_proxy 127.0.0.1:${upstream} {
    flush_interval -1
    transport http {
      keepalive_idle_conns_per_host 1
      max_conns_per_host 1
    }
  }
}
`,
  }),
  args: (directory) => ['run', '--adapter', 'caddyfile', '--config', `${directory}/Caddyfile`],
};

export const PROXIES: readonly ReverseProxy[] = [nginx, haproxy, caddy];
