/** What the Dockerfile says, instruction by instruction. */
import { readFileSync } from 'node:fs';

export type Instruction = { keyword: string; value: string };

export type Dockerfile = {
  build: Instruction[];
  /** The stage that becomes the image. */
  final: Instruction[];
};

export function readDockerfile(path: string): Dockerfile {
  const text = readFileSync(path, 'utf8').replaceAll(/^\s*#.*\n/gm, '');
  const instructions = text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, keyword = '', value = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
      return { keyword, value };
    });
  const starts = instructions.flatMap(({ keyword }, index) => (keyword === 'FROM' ? [index] : []));
  const [build, final] = starts;
  if (starts.length !== 2) throw new Error(`The Dockerfile has ${starts.length} stages, not 2`);
  return { build: instructions.slice(build, final), final: instructions.slice(final) };
}

/** The values of all instructions with a keyword, in order. */
export function allOf(instructions: readonly Instruction[], keyword: string): string[] {
  return instructions.filter((found) => found.keyword === keyword).map(({ value }) => value);
}

/** The value of the one instruction with a keyword. */
export function oneOf(instructions: readonly Instruction[], keyword: string): string {
  const [value, ...others] = allOf(instructions, keyword);
  if (value === undefined || others.length > 0) throw new Error(`The image needs one ${keyword}`);
  return value;
}

/** What ENV sets. */
export function environmentOf(instructions: readonly Instruction[]): Record<string, string> {
  const pairs = oneOf(instructions, 'ENV').matchAll(/(\w+)=(\S+)/g);
  return Object.fromEntries([...pairs].map(([, name, value]) => [name, value]));
}
