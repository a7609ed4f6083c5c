/** The Chromium that page tests and benchmarks drive: the machine's own. A test file starts it once. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Decides only how late a browser that never starts is reported; a busy machine takes long to start one. */
const START_TIMEOUT_MS = 120_000;
/** Debian's. Without windows, and what belongs to them, the first takes half of the processor time of the other. */
const EXECUTABLES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

function executable(): string {
  return process.env.CHROMIUM ?? EXECUTABLES.find((path) => existsSync(path)) ?? EXECUTABLES.at(-1)!;
}

/** Returns why page tests cannot run here; false when they can. In CI a missing Chromium is a failure, not a reason to skip. */
export function chromiumIsMissing(): string | false {
  if (process.env.CI === 'true' || spawnSync(executable(), ['--version']).status === 0) return false;
  return 'there is no Chromium: install it (Debian: apt-get install chromium-headless-shell), or set CHROMIUM to its path';
}

/** Starts Chromium without a window; the caller closes it. It ends with this process, however this process ends. */
export async function launchChromium(): Promise<Browser> {
  return await chromium.launch({
    executablePath: executable(),
    timeout: START_TIMEOUT_MS,
    // Chromium refuses to start its sandbox as root.
    chromiumSandbox: process.getuid?.() !== 0,
  });
}
