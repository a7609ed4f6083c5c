/** A variable's value, or why it cannot be used (without the variable's name). */
export type Reading<T> = { value: T } | { problem: string };

/** The environment as the process got it. */
export type Environment = Readonly<Record<string, string | undefined>>;

const LONGEST_QUOTE = 80;

function isAddress(text: string, protocols: readonly string[]): boolean {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  return parsed !== null && parsed.host !== '' && protocols.includes(parsed.protocol);
}

/**
 * Reads variables one after the other and keeps every problem, so that all of them are told at once. An empty variable
 * counts as unset: that is how compose files and CI systems pass "nothing".
 */
export class EnvironmentReader {
  readonly problems: string[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  text(name: string): string | null {
    const value = this.#environment[name]?.trim();
    return value === undefined || value === '' ? null : value;
  }

  /** Several, with commas between them; none when it is unset. */
  list(name: string): string[] {
    return (this.text(name) ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
  }

  /** A whole number within bounds; digits only, so that `1e3` and `0x10` are not guessed at. */
  integer(name: string, fallback: number, bounds: { min: number; max: number }): number {
    return this.#read<number>(name, fallback, (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= bounds.min && value <= bounds.max) return { value };
      return { problem: `must be a whole number from ${bounds.min} to ${bounds.max}, but is "${text}"` };
    });
  }

  choice<T extends string>(name: string, fallback: T, choices: readonly T[]): T {
    return this.#read<T>(name, fallback, (text) => {
      const value = choices.find((choice) => choice === text);
      return value === undefined
        ? { problem: `must be one of ${choices.join(', ')}, but is "${text}"` }
        : { value };
    });
  }

  matching(name: string, { pattern, example }: { pattern: RegExp; example: string }): string | null {
    return this.#read<string | null>(name, null, (text) =>
      pattern.test(text)
        ? { value: text }
        : { problem: `must be like ${example}, but is "${text.slice(0, LONGEST_QUOTE)}"` },
    );
  }

  /** An address with one of `protocols`, without a trailing slash. Its value is not quoted: it may hold a password. */
  url(name: string, protocols: readonly string[], example: string): string | null {
    return this.#read<string | null>(name, null, (text) =>
      isAddress(text, protocols)
        ? { value: text.replace(/\/+$/, '') }
        : { problem: `must be an address like ${example}` },
    );
  }

  /** The same, of several, with commas between them. */
  urls(name: string, protocols: readonly string[], example: string): string[] {
    return this.#read<string[]>(name, [], (text) => {
      const addresses = text.split(',').map((address) => address.trim().replace(/\/+$/, ''));
      return addresses.every((address) => isAddress(address, protocols))
        ? { value: addresses }
        : { problem: `must be addresses like ${example}, with commas between them` };
    });
  }

  /** A secret that goes into a header: printable ASCII without spaces, of a bounded length. Never quoted. */
  secret(name: string, length: { min: number; max: number }): string | null {
    return this.#read<string | null>(name, null, (text) => {
      if (!/^[\x21-\x7e]+$/.test(text)) return { problem: 'must be printable ASCII without spaces' };
      if (text.length < length.min || text.length > length.max) {
        return { problem: `must have ${length.min} to ${length.max} characters, but has ${text.length}` };
      }
      return { value: text };
    });
  }

  /**
   * A variable that other programs read too: by its name in lower case or, where that is unset, in upper case. `read`
   * does not quote the value: it may hold a password.
   */
  shared<T>(name: string, read: (text: string) => Reading<T>): T | null {
    const lowerCase = name.toLowerCase();
    const isThere = Object.hasOwn(this.#environment, lowerCase) && this.text(lowerCase) !== null;
    return this.#read<T | null>(isThere ? lowerCase : name, null, read);
  }

  #read<T>(name: string, fallback: T, read: (text: string) => Reading<T>): T {
    const text = this.text(name);
    if (text === null) return fallback;
    const reading = read(text);
    if ('value' in reading) return reading.value;
    this.problems.push(`${name} ${reading.problem}`);
    return fallback;
  }
}
