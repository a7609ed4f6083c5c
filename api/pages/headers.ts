/**
 * Headers of the pages. Every byte that they show may have been written by a stranger, and their reader may mint keys.
 * The server itself sends `x-content-type-options: nosniff` with everything.
 */

/** Joins the directives of a Content-Security-Policy. */
function policyOf(directives: Readonly<Record<string, string>>): string {
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`.trim())
    .join('; ');
}

/**
 * Scripts and styles of the dashboard's own files alone, connections to its own origin alone, images of the page's own making,
 * no frames, and no assignment of text as HTML anywhere: the only policy of Trusted Types lets through the addresses of the
 * dashboard's own workers, see dashboard/workers/start.ts.
 */
const PAGE_POLICY = policyOf({
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data: blob:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'worker-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
  'trusted-types': 'assay-workers',
});

/**
 * The library of the API reference writes HTML and styles, so its page is sandboxed: in an origin of its own it has neither the
 * dashboard's cookie nor its storage, and its calls are a stranger's.
 */
const REFERENCE_POLICY = policyOf({
  sandbox: 'allow-scripts',
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'form-action': "'none'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
});

/** A worker has the policy of its own file: it calls the API, and takes no further code. */
const FILE_POLICY = policyOf({
  'default-src': "'none'",
  'connect-src': "'self'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
});

const SHARED = {
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};

const DOCUMENT_HEADERS = {
  ...SHARED,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
};

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...DOCUMENT_HEADERS,
  'content-security-policy': PAGE_POLICY,
};

export const REFERENCE_HEADERS: Readonly<Record<string, string>> = {
  ...DOCUMENT_HEADERS,
  'content-security-policy': REFERENCE_POLICY,
};

/** The name of a file changes with what is in it. */
export const FILE_HEADERS: Readonly<Record<string, string>> = {
  ...SHARED,
  'content-security-policy': FILE_POLICY,
  'cache-control': 'public, max-age=31536000, immutable',
  vary: 'Accept-Encoding',
};
