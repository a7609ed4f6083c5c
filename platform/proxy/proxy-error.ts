/** A proxy that opened no tunnel. The message is public and names no host: "the proxy …". */
export class ProxyError extends Error {
  /** Status of the proxy's response; null: there was none. */
  readonly status: number | null;

  constructor(message: string, options: { status?: number; cause?: Error | null } = {}) {
    super(message, { cause: options.cause ?? undefined });
    this.name = 'ProxyError';
    this.status = options.status ?? null;
  }
}
