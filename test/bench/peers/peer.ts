/** A gateway or proxy that the benchmark starts: described by data, so that any binary can take part. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

const Lines = Type.Union([Type.String(), Type.Array(Type.String())]);

/**
 * How to start a peer and call it. `{port}` (where it must listen), `{providerPort}` and `{dir}` (its own temporary directory,
 * where it is started) are replaced in all texts but the first two.
 */
export const Peer = Type.Object(
  {
    name: Type.String({ pattern: '^[\\w.-]{1,30}$' }),
    /** What it stores of each call in this test, for the report: "nothing", "both bodies, seconds later". */
    logs: Type.String({ minLength: 1 }),
    /** A program on PATH or a path, which counts from the directory of the file. */
    command: Type.String({ minLength: 1 }),
    args: Type.Optional(Type.Array(Type.String())),
    /** Beside PATH and HOME. */
    environment: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** Files to write into `{dir}` before the start, by name: text, or its lines. */
    files: Type.Optional(Type.Record(Type.String({ pattern: '^[\\w.-]+$' }), Lines)),
    /** Of a chat completion. */
    path: Type.Optional(Type.String({ pattern: '^/' })),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** Answers a GET with less than status 500 once the peer is ready. */
    readyPath: Type.Optional(Type.String({ pattern: '^/' })),
    /** Arguments that make the command print its version. */
    versionArgs: Type.Optional(Type.Array(Type.String())),
    /** The version itself, where no argument prints it. */
    version: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type Peer = Static<typeof Peer>;

const Peers = Type.Array(Peer, { minItems: 1 });

/**
 * Reads a list of peers from a JSON file.
 * @throws Error that names the file and the field that is wrong
 */
export function readPeers(path: string): Peer[] {
  let peers: unknown;
  try {
    peers = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`Cannot read the peers in ${path}: ${(error as Error).message}`);
  }
  const wrong = Value.Errors(Peers, peers).First();
  if (wrong !== undefined) throw new Error(`${path}: ${wrong.path || 'the file'}: ${wrong.message}`);
  return (peers as Peer[]).map((peer) => ({
    ...peer,
    command: peer.command.includes('/') ? resolve(dirname(path), peer.command) : peer.command,
  }));
}

/** What the placeholders stand for. */
export type Places = { port: number; providerPort: number; dir: string };

/** Puts values in the places of `{port}`, `{providerPort}` and `{dir}`. Other braces stay. */
export function fillIn(text: string, places: Places): string {
  return text.replaceAll(/\{(port|providerPort|dir)\}/g, (_, name: keyof Places) => String(places[name]));
}
