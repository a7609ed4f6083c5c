/** compose.yaml as Docker Compose reads it when no variable is set. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { PROJECT } from './container.ts';

export type Service = {
  image: string;
  command: string[];
  environment: Record<string, string | null>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  networks: string[] | Record<string, { aliases?: string[] } | null>;
  ports?: string[];
  volumes?: string[];
  tmpfs?: string[];
  cap_drop: string[];
  security_opt: string[];
  read_only: boolean;
  stop_grace_period: string;
  deploy?: { replicas: number };
};

export type Compose = {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, null>;
};

/** Puts defaults in the places of variables, the inner ones first: a default may have a variable of its own. */
function withDefaults(text: string): string {
  const filled = text.replaceAll(/\$\{\w+:-([^{}]*)\}/g, '$1');
  return filled === text ? text : withDefaults(filled);
}

/** The text with the defaults of its variables in their places. */
export function interpolatedText(): string {
  return withDefaults(readFileSync(join(PROJECT, 'compose.yaml'), 'utf8'));
}

export function readCompose(): Compose {
  return parse(interpolatedText(), { merge: true }) as Compose;
}

/** The networks that a service is in, whichever way they are written. */
export function networksOf({ networks }: Service): string[] {
  return Array.isArray(networks) ? networks : Object.keys(networks);
}

/** The services that have a name, of their own or as an alias in one of the networks. */
export function servicesCalled(host: string, services: Compose['services']): [string, Service][] {
  return Object.entries(services).filter(([name, { networks }]) => {
    const aliases = Array.isArray(networks)
      ? []
      : Object.values(networks).flatMap((one) => one?.aliases ?? []);
    return [name, ...aliases].includes(host);
  });
}
