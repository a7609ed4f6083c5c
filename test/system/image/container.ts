/**
 * The image and its containers where no container engine is at hand: the Dockerfile's own steps, done in a plain
 * directory, and its ENTRYPOINT run from there. As root on Linux it runs under the image's user, without
 * capabilities, as the first process of a process namespace, on x86-64 behind what engines filter; elsewhere as a plain
 * process. Not done: what a RUN does to the system's packages and accounts, and the networks and file systems of containers.
 */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ending } from '../../support/assay.ts';
import { allOf, environmentOf, oneOf, readDockerfile } from './dockerfile.ts';

export const PROJECT = join(import.meta.dirname, '../../..');

export type Container = {
  ended: Promise<Ending>;
  stdout(): string;
  stderr(): string;
  /** Runs the image's HEALTHCHECK in the container; `environment` comes before the container's. */
  check(environment?: Record<string, string>): Promise<{ healthy: boolean; said: string }>;
  /** SIGTERM, as `docker stop` sends it, and how the container ended. */
  stop(): Promise<Ending>;
};

export type Image = {
  /** Whether containers cannot make namespaces, as an engine's default filter has it. */
  isFiltered: boolean;
  /** Where the image's `/` is. */
  root: string;
  /** What npm and the build said, in order. */
  said: string[];
  /** A directory that the image's user may write to, as a volume is. */
  volume(): string;
  /** A directory like a tmpfs in the place of DATA_DIR: of root, and with the mode that the image's own directory has, as runc mounts it. */
  tmpfs(): string;
  /** `docker run` with these parameters and this environment beside the image's own. */
  run(parameters: string[], environment: Record<string, string>): Container;
  /** Ends all containers and removes everything. */
  remove(): Promise<void>;
};

/** Copies what .dockerignore lets through: an allowlist of names, and what is left out of them again. */
function copyContext(to: string): void {
  const lines = readFileSync(join(PROJECT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [first, ...rest] = lines;
  if (first !== '*' || !rest.every((line) => /^!?[\w./-]+$/.test(line))) {
    throw new Error('.dockerignore must be * and the names that are let through or left out again');
  }
  const leftOut = rest.filter((line) => !line.startsWith('!')).map((line) => join(PROJECT, line));
  for (const line of rest.filter((line) => line.startsWith('!'))) {
    const name = line.slice(1);
    cpSync(join(PROJECT, name), join(to, name), {
      recursive: true,
      filter: (path) => !leftOut.includes(path),
    });
  }
}

/** The build stage: copies from the context, and runs its commands with the container's paths made ours. */
function runBuildStage(directory: string): string[] {
  const { build } = readDockerfile(join(PROJECT, 'Dockerfile'));
  const context = join(directory, 'context');
  const stage = join(directory, 'build');
  const checkout = join(stage, oneOf(build, 'WORKDIR'));
  copyContext(context);
  mkdirSync(checkout, { recursive: true });
  const said: string[] = [];
  for (const { keyword, value } of build) {
    if (keyword === 'COPY') {
      const paths = value.split(' ');
      const to = join(checkout, paths.at(-1)!);
      for (const from of paths.slice(0, -1)) {
        const isDirectory = from === '.' || from.endsWith('/');
        cpSync(join(context, from), isDirectory ? to : join(to, from), { recursive: true });
      }
    }
    if (keyword === 'RUN') {
      const command = value.replaceAll(' /', ` ${stage}/`);
      said.push(execFileSync('sh', ['-c', command], { cwd: checkout, encoding: 'utf8' }).trim());
    }
  }
  return said;
}

function copyIntoImage(directory: string, root: string): void {
  const { final } = readDockerfile(join(PROJECT, 'Dockerfile'));
  for (const value of allOf(final, 'COPY')) {
    const [stage, from = '', to = ''] = value.split(' ');
    if (stage !== '--from=build') throw new Error(`The image takes what is built only, not ${value}`);
    const source = from === '/usr/local/bin/node' ? process.execPath : join(directory, 'build', from);
    cpSync(source, join(root, to), { recursive: true });
  }
}

/** Were this process killed, its containers would otherwise live on. */
const DIES_WITH_US = ['setpriv', '--pdeathsig=KILL'];
const NAMESPACE = ['--pid', '--fork', '--kill-child', '--mount-proc'];

/** Whether processes can be given a namespace and a user of their own here. */
function canIsolate(): boolean {
  return process.getuid?.() === 0 && spawnSync('unshare', [...NAMESPACE, 'true']).status === 0;
}

const PYTHON = '/usr/bin/python3';
/** Given as its text: the containers' user may not be able to read the checkout. */
const ENGINE_FILTER = [
  PYTHON,
  '-I',
  '-S',
  '-c',
  readFileSync(join(import.meta.dirname, 'engine-filter.py'), 'utf8'),
];

/** The filter's numbers are of one machine. */
function canFilter(): boolean {
  return process.arch === 'x64' && canIsolate() && existsSync(PYTHON);
}

/** The process that `unshare` started, by the id that it has outside; null when there is none, yet or any more. */
function childOf(pid: number): number | null {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return Number(children.trim().split(' ')[0]) || null;
  } catch {
    return null;
  }
}

/** The mode that the image's DATA_DIR is made with. */
function modeOfDataDir(): number {
  const { final } = readDockerfile(join(PROJECT, 'Dockerfile'));
  const { DATA_DIR } = environmentOf(final);
  const [, mode = ''] =
    new RegExp(`install --directory .*--mode=(\\d+) ${DATA_DIR}`).exec(allOf(final, 'RUN').join('\n')) ?? [];
  if (mode === '') throw new Error('The Dockerfile does not make DATA_DIR with a mode');
  return Number.parseInt(mode, 8);
}

function hasTini(): boolean {
  return spawnSync('tini', ['--version']).status === 0;
}

/** How the image's commands are run here. */
type Launch = {
  entrypoint: string[];
  healthCheck: string[];
  environment: Record<string, string>;
  uid: number;
  gid: number;
  isolates: boolean;
  filters: boolean;
};

function readLaunch(root: string): Launch {
  const { final } = readDockerfile(join(PROJECT, 'Dockerfile'));
  const inside = (json: string) =>
    (JSON.parse(json) as string[]).map((part) => part.replace(/^\/opt\//, `${join(root, 'opt')}/`));
  const entrypoint = inside(oneOf(final, 'ENTRYPOINT'));
  const [uid = 0, gid = 0] = oneOf(final, 'USER').split(':').map(Number);
  return {
    entrypoint: hasTini() ? entrypoint : entrypoint.slice(entrypoint.indexOf('--') + 1),
    healthCheck: inside(oneOf(final, 'HEALTHCHECK').split(' CMD ')[1] ?? '[]'),
    environment: {
      ...environmentOf(final),
      PATH: `${join(root, 'usr/local/bin')}:${process.env.PATH}`,
      HOME: '/nonexistent',
    },
    uid,
    gid,
    isolates: canIsolate(),
    filters: canFilter(),
  };
}

function asUser({ uid, gid }: Launch): string[] {
  const user = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  return ['setpriv', ...user, '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
}

function spawnContainer(launch: Launch, parameters: string[], env: Record<string, string>): ChildProcess {
  // An engine starts it with these variables alone; the test's runner would add its own, which its user cannot obey.
  const clean = ['env', '-i', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  const started = [...clean, ...launch.entrypoint, ...parameters];
  const [command, ...rest] = launch.isolates
    ? [
        ...[...DIES_WITH_US, 'unshare', ...NAMESPACE, ...asUser(launch)],
        ...[...(launch.filters ? ENGINE_FILTER : []), ...started],
      ]
    : started;
  return spawn(command!, rest, { env, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
}

function followContainer(
  launch: Launch,
  child: ChildProcess,
  role: string,
  env: Record<string, string>,
): Container {
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.on('data', (chunk: Buffer) => {
      output[stream] += chunk.toString();
    });
  }
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const firstProcess = () => (launch.isolates ? childOf(child.pid!) : child.pid!);
  return {
    ended,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    async check(others = {}) {
      const first = firstProcess();
      if (first === null) return { healthy: false, said: 'The container does not run' };
      const [program, ...rest] = launch.isolates
        ? ['nsenter', `--target=${first}`, '--pid', '--mount', ...asUser(launch), ...launch.healthCheck]
        : // Outside a namespace of its own the first process is the machine's.
          [...launch.healthCheck, role];
      return await new Promise((resolve) => {
        execFile(program!, rest, { env: { ...env, ...others } }, (error, stdout) =>
          resolve({ healthy: error === null, said: stdout.trim() }),
        );
      });
    },
    async stop() {
      const first = firstProcess();
      if (first !== null) process.kill(first, 'SIGTERM');
      return await ended;
    },
  };
}

/** Builds the image; the error of a step that fails holds what it said. */
export function buildImage(): Image {
  const directory = mkdtempSync(join(tmpdir(), 'assay-test-image-'));
  chmodSync(directory, 0o755);
  const root = join(directory, 'root');
  const said = runBuildStage(directory);
  copyIntoImage(directory, root);
  const launch = readLaunch(root);
  const running = new Set<ChildProcess>();
  return {
    isFiltered: launch.filters,
    root,
    said,
    volume() {
      const path = mkdtempSync(join(directory, 'volume-'));
      if (launch.isolates) chownSync(path, launch.uid, launch.gid);
      return path;
    },
    tmpfs() {
      const path = mkdtempSync(join(directory, 'tmpfs-'));
      chmodSync(path, modeOfDataDir());
      return path;
    },
    run(parameters, environment) {
      const env = { ...launch.environment, ...environment };
      const child = spawnContainer(launch, parameters, env);
      running.add(child);
      child.once('close', () => running.delete(child));
      return followContainer(launch, child, parameters[0] ?? '', env);
    },
    async remove() {
      const gone = [...running].map((child) => once(child, 'close'));
      for (const child of running) child.kill('SIGKILL');
      await Promise.all(gone);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
