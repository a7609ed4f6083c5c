/** Runs a program of examples/ as its own comment says, in a process of its own. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inheritedEnvironment } from '../../support/assay.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FOLDER = join(ROOT, 'examples');

/** A Python that has the packages of the Python clients; .ci/run makes one. */
const PYTHON = process.env.PYTHON_CLIENTS ?? 'python3';

const COMMANDS: Readonly<Record<string, string>> = { node: process.execPath, python3: PYTHON, sh: 'sh' };

/** Decides only how late a program that hangs is reported. */
const PROGRAM_TIMEOUT_MS = 180_000;

export type Ending = { status: number; stdout: string; stderr: string };

/** Returns the names of all programs. */
export function listExamples(): string[] {
  return readdirSync(FOLDER).filter((name) => name !== 'README.md');
}

/** Returns the text of a file of examples/. */
export function readExample(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8');
}

function execute(
  command: string,
  parameters: string[],
  environment: Record<string, string>,
): Promise<Ending> {
  const options = {
    cwd: ROOT,
    env: { ...inheritedEnvironment(), ...environment },
    timeout: PROGRAM_TIMEOUT_MS,
  };
  return new Promise((resolve) => {
    execFile(command, parameters, options, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ status, stdout, stderr });
    });
  });
}

/** Runs the command that stands behind `Run:` in the program's comment. */
export function runExample(name: string, environment: Record<string, string>): Promise<Ending> {
  const [, line] = /^(?:#|\/\/) Run: +KEY=sk-assay-… (.+)$/m.exec(readExample(name)) ?? [];
  const [command = '', ...parameters] = line?.split(' ') ?? [];
  const found = COMMANDS[command];
  if (found === undefined || parameters[0] !== `examples/${name}`) {
    throw new Error(`${name} does not say how it is run: ${line}`);
  }
  return execute(found, parameters, environment);
}

/** Returns why a program of the Python client of OpenAI is skipped: on a user's machine that lacks it, and never in CI. */
export async function openAiIsMissing(): Promise<string | false> {
  if (process.env.CI !== undefined) return false;
  const probe = 'import importlib.util, sys; sys.exit(importlib.util.find_spec("openai") is None)';
  const { status } = await execute(PYTHON, ['-c', probe], {});
  return status === 0
    ? false
    : 'python3 has no openai: pip install openai, or name one that has it in PYTHON_CLIENTS';
}
