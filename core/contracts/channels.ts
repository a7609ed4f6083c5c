/** The names by which roles reach each other: channels of Postgres (NOTIFY), and the stream and subjects of NATS. */

/** An API key, an organization or a provider key changed; the payload is its id. A database trigger notifies. */
export const KEYS_CHANNEL = 'assay_keys';
/** A stored prompt, a version of it or an environment changed; the payload is the prompt's id. A database trigger notifies. */
export const PROMPTS_CHANNEL = 'assay_prompts';
/** A log-in of a browser ended; the payload is its id. A database trigger notifies. */
export const BROWSER_SESSIONS_CHANNEL = 'assay_browser_sessions';
/** Evaluations became due. */
export const EVALUATIONS_CHANNEL = 'assay_evaluations';
/** A run was made or resumed, or its evaluator was. */
export const RUNS_CHANNEL = 'assay_runs';
/** An experiment has runs that are due. */
export const EXPERIMENTS_CHANNEL = 'assay_experiments';
/** A trial waits for a worker; the payload is its id. */
export const TRIALS_CHANNEL = 'assay_trials';
/** A trial has its result; the payload is its id. */
export const TRIAL_RESULTS_CHANNEL = 'assay_trial_results';
/** Records changed: the sinks have something to apply. A process that changes many says so once for all of a moment. */
export const CHANGES_CHANNEL = 'assay_changes';
/** Deliveries of webhooks became due. */
export const WEBHOOKS_CHANNEL = 'assay_webhooks';
/** Requests were erased; the payload is the organization's id and up to 100 request ids, separated by spaces. */
export const ERASURES_CHANNEL = 'assay_erasures';

/** The JetStream stream of log entries, and its only subject. */
export const LOG_STREAM = 'LOGS';
export const LOG_SUBJECT = 'assay.logs';
/** API keys or organizations changed: for processes whose connection to Postgres drops notifications. */
export const KEY_CHANGES_SUBJECT = 'assay.changes.keys';
/** Stored prompts changed: for the same processes. */
export const PROMPT_CHANGES_SUBJECT = 'assay.changes.prompts';
/** Log-ins of browsers ended: for the same processes. */
export const BROWSER_SESSION_CHANGES_SUBJECT = 'assay.changes.browser_sessions';
/** Requests were erased: for the same processes. */
export const ERASURES_SUBJECT = 'assay.changes.erasures';
