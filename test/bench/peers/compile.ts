/** Compiles the load generator and the provider, which are C so that neither is the limit of what is measured. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Paths of the compiled programs. */
export type Programs = { load: string; provider: string };

const FLAGS = ['-O2', '-Wall', '-Wextra', '-Werror'];

/** Why the programs cannot be compiled here; false when they can. */
export function compilerIsMissing(): string | false {
  if (process.platform !== 'linux') return 'The load generator and the provider need Linux (epoll)';
  if (spawnSync('cc', ['--version']).status === 0) return false;
  return 'There is no C compiler (cc) on PATH: install one (Debian: apt-get install gcc libc6-dev)';
}

function compile(name: string, directory: string): string {
  const source = fileURLToPath(new URL(`native/${name}.c`, import.meta.url));
  const program = join(directory, name);
  const compiler = spawnSync('cc', [...FLAGS, '-o', program, source], { encoding: 'utf8' });
  if (compiler.status !== 0) throw new Error(`Cannot compile ${source}:\n${compiler.stderr}`);
  return program;
}

/**
 * Compiles both into a directory.
 * @throws Error that says what to install when there is no compiler
 */
export function compilePrograms(directory: string): Programs {
  const missing = compilerIsMissing();
  if (missing !== false) throw new Error(missing);
  return { load: compile('load', directory), provider: compile('provider', directory) };
}
