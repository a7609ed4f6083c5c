/** A pool on sockets in memory and a clock that is turned, and a model of what each organization is due. */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Pool } from '#platform/http-client/client.ts';
import type { Connector } from '#platform/http-client/connect.ts';
import type { Exchange } from '#platform/http-client/exchange.ts';

export type CallState = 'waiting' | 'under way' | 'over' | 'refused';
export type Limits = { connections: number; perOrganization: number };

export const WAIT_MS = 5_000;
const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
/** No call is ever too slow. */
const PATIENT = { connectMs: 1e12, firstByteMs: 1e12, idleMs: 1e12 };

/** As much of a socket as a connection uses. Its events are told when the test says so. */
class MemorySocket extends EventEmitter {
  readonly writableLength = 0;
  readonly #events: (() => void)[];
  path: string | null = null;
  isOpen = true;

  constructor(events: (() => void)[]) {
    super();
    this.#events = events;
  }

  get readable(): boolean {
    return this.isOpen;
  }

  get writable(): boolean {
    return this.isOpen;
  }

  isPaused(): boolean {
    return false;
  }

  write(bytes: Buffer): void {
    this.path = bytes.toString('latin1').split(' ')[1]!;
  }

  destroy(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.path = null;
    this.#events.push(() => this.emit('close'));
  }
}

/** The pool under test. Calls are known by their place among all. */
export class PoolWorld {
  nowMs = 0;
  readonly #pool: Pool;
  readonly #events: (() => void)[] = [];
  readonly #sockets = new Set<MemorySocket>();
  readonly #exchanges: Exchange[] = [];
  readonly #ended = new Map<number, CallState>();

  constructor({ connections, perOrganization }: Limits) {
    const open: Connector['open'] = (hear, onData) => {
      const socket = new MemorySocket(this.#events);
      this.#sockets.add(socket);
      socket.on('data', onData);
      const whenClosed = (): void => hear.onClosed(null);
      socket.once('close', () => this.#sockets.delete(socket)).once('close', whenClosed);
      this.#events.push(() => {
        if (!socket.isOpen) return;
        socket.off('close', whenClosed);
        hear.onOpen(socket as unknown as Socket);
      });
      return socket;
    };
    this.#pool = new Pool(
      'http://provider.test',
      { isProxied: false, open },
      {
        maxConnections: connections,
        concurrencyPerOrganization: perOrganization,
        waitMs: WAIT_MS,
        now: () => this.nowMs,
        timeouts: PATIENT,
      },
    );
  }

  /** The most sockets that were open at a time. */
  get sockets(): number {
    return this.#sockets.size;
  }

  send(organizationId: string): void {
    const place = this.#exchanges.length;
    const end = (state: CallState) => this.#ended.set(place, state);
    const exchange = this.#pool.send({
      label: 'MEMORY',
      organizationId,
      origin: 'http://provider.test',
      path: `/${place}`,
      headers: [],
      body: Buffer.alloc(0),
    });
    exchange.response.then(
      ({ body }) => body.read({ onData: () => {}, onEnd: () => end('over'), onError: () => end('over') }),
      ({ code }) => end(code === 'provider_busy' ? 'refused' : 'over'),
    );
    this.#exchanges.push(exchange);
    this.#settle();
  }

  /** Its provider answers. */
  answer(place: number): void {
    this.#socketOf(place)?.emit('data', ANSWER);
    this.#settle();
  }

  /** Its provider hangs up. */
  breakOff(place: number): void {
    this.#socketOf(place)?.destroy();
    this.#settle();
  }

  /** Its client leaves. */
  abort(place: number): void {
    this.#exchanges[place]!.abort();
    if (!this.#ended.has(place)) this.#ended.set(place, 'over');
    this.#settle();
  }

  pass(ms: number): void {
    this.nowMs += ms;
    this.#pool.checkDeadlines();
    this.#settle();
  }

  states(): CallState[] {
    return this.#exchanges.map(
      (_, place) => this.#ended.get(place) ?? (this.#socketOf(place) === undefined ? 'waiting' : 'under way'),
    );
  }

  #socketOf(place: number): MemorySocket | undefined {
    if (this.#ended.has(place)) return undefined;
    return [...this.#sockets].find(({ path }) => path === `/${place}`);
  }

  #settle(): void {
    for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift()) event();
  }
}

type ModelCall = { organization: string; state: CallState; cameAtMs: number };

/**
 * What should happen, by looking at everything each time: whenever a connection is there, it goes to the oldest call of
 * the organization that may have it and has waited for its turn the longest.
 */
export class Model {
  nowMs = 0;
  readonly calls: ModelCall[] = [];
  readonly #limits: Limits;
  /** Since when each organization waits for a turn: its latest one, or the first call that had to wait. */
  readonly #turnSince = new Map<string, number>();
  #steps = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  send(organization: string): void {
    const isLineFull = this.#of(organization, 'waiting').length >= 2 * this.#limits.perOrganization;
    const call: ModelCall = { organization, state: 'waiting', cameAtMs: this.nowMs };
    this.calls.push(call);
    this.#serve();
    if (call.state === 'waiting' && isLineFull) call.state = 'refused';
    this.#noteTurns();
  }

  end(place: number): void {
    this.calls[place]!.state = 'over';
    this.#noteTurns();
    this.#serve();
  }

  pass(ms: number): void {
    this.nowMs += ms;
    for (const call of this.calls)
      if (call.state === 'waiting' && call.cameAtMs + WAIT_MS <= this.nowMs) call.state = 'refused';
    this.#noteTurns();
  }

  #of(organization: string | null, state: CallState): ModelCall[] {
    return this.calls.filter(
      (call) => call.state === state && (organization === null || call.organization === organization),
    );
  }

  /** While more connections are left than it holds, or up to its bound where it has no neighbour. */
  #mayGo(organization: string): boolean {
    const held = this.#of(organization, 'under way').length;
    const total = this.#of(null, 'under way').length;
    const left = this.#limits.connections - total;
    return held < this.#limits.perOrganization && left > 0 && (held < left || held === total);
  }

  #noteTurns(): void {
    for (const { organization } of this.calls) {
      if (this.#of(organization, 'waiting').length === 0) this.#turnSince.delete(organization);
      else if (!this.#turnSince.has(organization)) {
        this.#steps += 1;
        this.#turnSince.set(organization, this.#steps);
      }
    }
  }

  #serve(): void {
    this.#noteTurns();
    for (;;) {
      const inTurn = [...this.#turnSince].sort(([, a], [, b]) => a - b);
      const next = inTurn.find(([organization]) => this.#mayGo(organization))?.[0];
      if (next === undefined) return;
      this.#of(next, 'waiting')[0]!.state = 'under way';
      this.#turnSince.delete(next);
      this.#noteTurns();
    }
  }
}
