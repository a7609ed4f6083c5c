import type { ResponseBody } from '#platform/http-client/mod.ts';
import { joinBytes } from '#platform/http-message/mod.ts';
import type { BodySource, BodyWriter } from '#platform/http-server/mod.ts';

/**
 * The first event mostly comes with the headers or right behind them, and then both go out together. A model may also
 * think for minutes first, and the client, or a proxy before it, wants to know by then that its call is under way.
 */
const HEADERS_WAIT_MS = 100;
/** So much may come before the reply has begun; a provider that sends more until then is paused. */
const MAX_EARLY_BYTES = 256 * 1024;

/** Writes to a reply that begins a moment later, and slows the provider down when the client is slow. */
export class ClientStream implements BodySource {
  readonly #provider: Pick<ResponseBody, 'pause' | 'resume'>;
  #out: BodyWriter | null = null;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  #hasEnded = false;
  #headersTimer: NodeJS.Timeout | undefined;

  constructor(provider: Pick<ResponseBody, 'pause' | 'resume'>) {
    this.#provider = provider;
  }

  /** Called by the HTTP server with the headers, which wait for what follows them. */
  pipe(out: BodyWriter): void {
    this.#out = out;
    out.onDrain(() => this.#provider.resume());
    const early = joinBytes(this.#early);
    this.#early = [];
    if (this.#hasEnded) out.end(early);
    else if (early.length > 0) {
      if (this.write(early) && this.#earlyBytes > MAX_EARLY_BYTES) this.#provider.resume();
    } else this.#headersTimer = setTimeout(() => out.flushHeaders(), HEADERS_WAIT_MS);
    out.onClose(() => clearTimeout(this.#headersTimer));
  }

  /** Returns whether there is room for more; if not, the provider is paused until there is. */
  write(bytes: Buffer): boolean {
    if (bytes.length === 0) return true;
    clearTimeout(this.#headersTimer);
    let hasRoom: boolean;
    if (this.#out === null) {
      this.#early.push(bytes);
      this.#earlyBytes += bytes.length;
      hasRoom = this.#earlyBytes <= MAX_EARLY_BYTES;
    } else hasRoom = this.#out.write(bytes);
    if (!hasRoom) this.#provider.pause();
    return hasRoom;
  }

  end(last: Buffer): void {
    this.#hasEnded = true;
    if (this.#out === null) this.#early.push(last);
    else this.#out.end(last);
  }
}
