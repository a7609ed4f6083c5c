/** Why a proxy opened no tunnel. The message is public and names no host: "the proxy …". */
export class ProxyError extends Error {
  /** The proxy's answer, if there was one. */
  readonly status: number | null;

  constructor(message: string, options: { status?: number; cause?: Error | null } = {}) {
    super(message, { cause: options.cause ?? undefined });
    this.name = 'ProxyError';
    this.status = options.status ?? null;
  }
}
