/** Starts the workers of the dashboard, each from a file of its own that the build has named. */

/** Put in by scripts/dashboard/build.mjs. */
declare const WORKER_URLS: Readonly<Record<WorkerName, string>>;

export type WorkerName = 'record' | 'markdown';

/** As far as it is needed, and not yet in TypeScript's own types. */
type TrustedTypes = {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): PolicyOfUrls;
};
type PolicyOfUrls = { createScriptURL(url: string): string };

let policy: PolicyOfUrls | null = null;

/** The only policy that the Content-Security-Policy allows: it lets through the addresses of the workers, and nothing else. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy('assay-workers', {
    createScriptURL(wanted) {
      if (Object.values(WORKER_URLS).includes(wanted)) return wanted;
      throw new TypeError('Only workers of the dashboard are started');
    },
  }) ?? { createScriptURL: (wanted) => wanted };
  return policy.createScriptURL(url);
}

/** Starts a worker. */
export function startWorker(name: WorkerName): Worker {
  return new Worker(trusted(WORKER_URLS[name]), { name });
}
