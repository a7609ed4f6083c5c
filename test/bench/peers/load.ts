/** The compiled load generator (native/load.c): one run of it, and what it found. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { chatRequestOf } from '../gateway/payloads.ts';
import type { Scenario } from './scenario.ts';

/** What calls are sent to. */
export type Endpoint = { port: number; path: string; headers: Readonly<Record<string, string>> };

/** What the load generator prints. Times in milliseconds, of right answers; null of none. */
export type LoadFigures = {
  /** Right answers. */
  calls: number;
  /** Until the last call was answered. */
  seconds: number;
  callsPerSecond: number;
  totalP50Ms: number | null;
  totalP99Ms: number | null;
  firstByteP50Ms: number | null;
  firstByteP99Ms: number | null;
  /** Between two arrivals of body bytes within a call: shows events of a stream that are held back. */
  gapP50Ms: number | null;
  gapP99Ms: number | null;
  /** Wrong answers, and calls without a whole one. */
  failures: number;
  firstFailure: string | null;
};

/** The part of a JSON body around its text, which a gateway may write anew, is shorter. */
const ENVELOPE_BYTES = 512;
/** A stream of 20 events is longer in every spelling. */
const STREAM_BYTES = 2_000;

function requestBytes({ port, path, headers }: Endpoint, { bytes, pace }: Scenario): Buffer {
  const wish = pace === null ? `answer: bytes=${bytes}` : `answer: pace=${pace}`;
  const body = chatRequestOf(bytes, pace !== null, wish);
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/**
 * Puts a scenario on an endpoint for some seconds.
 * @param program the compiled load generator
 * @param directory for the file with the request
 */
export async function runLoad(
  program: string,
  directory: string,
  endpoint: Endpoint,
  scenario: Scenario,
  seconds: number,
): Promise<LoadFigures> {
  const file = join(directory, `request-${endpoint.port}`);
  writeFileSync(file, requestBytes(endpoint, scenario));
  const { bytes, pace, connections } = scenario;
  const least = pace === null ? Math.max(1, bytes - ENVELOPE_BYTES) : STREAM_BYTES;
  const ending = pace === null ? '}' : 'data: [DONE]\n\n';
  const child = spawn(program, [endpoint.port, connections, seconds, file, least, ending].map(String), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = await text(child.stdout);
  if (printed === '') throw new Error('The load generator failed; its message is above');
  return JSON.parse(printed) as LoadFigures;
}
