#!/usr/bin/env node
// @ts-check
/**
 * Runs an experiment over a dataset, compares it with a baseline, and ends with a status for CI: 0 passed, 1 a rule failed,
 * 2 the data do not decide, 3 it could not be run. One file without dependencies, for Node 20 or later: CI machines download
 * it from the API, and `npm start -- experiments gate` runs the same.
 */
import { accessSync, constants, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const USAGE = `Runs an experiment over a dataset and holds it against rules.

  assay-gate --dataset refunds --target model:gpt-4o-mini --baseline recorded --rule 'helpful not-worse 0.02'

  --dataset <name or id>[@version]   the items; the newest version by default
  --split <name>                     of the dataset; all items by default
  --target <target>                  what is tried: model:<model>, prompt:<name or id>[@<environment or version id>],
                                     replay, or a target as JSON
  --baseline <baseline>              what it is compared with: recorded (the answers in the log), a target, the name of an
                                     environment of the same prompt, or the id of an experiment. A target that was measured
                                     already is not measured again
  --experiment <id>                  holds an experiment that is there, in place of --dataset and --target
  --rule <rule>                      again for each: '<evaluator> not-worse <margin>', '<evaluator> better',
                                     'cost <= 1.1x', 'latency <= 900ms', 'errors <= 1%', 'ungraded <= 1%'. Without one on
                                     errors none may be; without one on ungraded no rule on grades passes while an answer
                                     has none
  --evaluator <name or id>           again for each that grades beside those of the rules
  --repetitions, --concurrency, --seed, --max-cost <US dollars>, --cache, --name <name>
  --alpha <number>                   0.05 by default
  --cluster <cluster|session|user|none>
  --undecided <fail|pass>            what an undecided gate is; fail ends with 2
  --timeout <minutes>                60 by default; then what was started is cancelled
  --junit <file>, --markdown <file>  where the result is written, too
  --dry-run                          tells the price, the time and the smallest difference that can be found
  --url <url>                        of the API; default: ASSAY_URL. The key is read from ASSAY_API_KEY
`;

const STATUS = { pass: 0, fail: 1, undecided: 2, notRun: 3 };

const DEFAULT_TIMEOUT_MINUTES = 60;
const POLL_MS = 250;
/** Between two lines where there is no terminal. */
const LINE_EVERY_MS = 10_000;
const BAR_WIDTH = 24;
/** Names in one answer of a list. */
const PAGE = 100;
/** Time in which an API that restarts is back. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 1_000;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const RULE_METRIC = /^\s*(?:"([^"]*)"|(\S.*?))\s*(?:\s(?:better|not-worse)\b|[<>=])/s;
const BUILT_IN = new Set(['cost', 'cost_usd', 'latency', 'latency_ms', 'tokens', 'errors', 'ungraded']);

/** Ends the gate with the status 3: nothing was decided. */
class NotRun extends Error {}

/**
 * @typedef {object} Environment
 * @property {string | null} url of the API, unless the parameters name another
 * @property {string | null} key of the API
 * @property {Record<string, string | undefined>} variables of the process, for what CI systems tell of a commit
 * @property {{ isTTY?: boolean, write(text: string): unknown }} progress
 * @property {(text: string) => unknown} print
 * @property {AbortSignal} stop whoever waits for the gate gives up
 */

/** @typedef {Record<string, any>} Json */

/**
 * Runs a gate, and returns its exit status.
 * @param {string[]} parameters
 * @param {Environment} environment
 */
export async function runGate(parameters, environment) {
  try {
    return await gate(parameters, environment);
  } catch (error) {
    environment.print(`The gate could not be run: ${error instanceof Error ? error.message : error}\n`);
    return STATUS.notRun;
  }
}

/** @param {string[]} parameters */
function readOptions(parameters) {
  const text = /** @type {const} */ ({ type: 'string' });
  const texts = /** @type {const} */ ({ type: 'string', multiple: true });
  const flag = /** @type {const} */ ({ type: 'boolean' });
  try {
    return parseArgs({
      args: parameters,
      options: {
        dataset: text,
        split: text,
        target: text,
        baseline: text,
        experiment: text,
        rule: texts,
        evaluator: texts,
        name: text,
        repetitions: text,
        concurrency: text,
        seed: text,
        'max-cost': text,
        cache: flag,
        alpha: text,
        cluster: text,
        undecided: text,
        timeout: text,
        junit: text,
        markdown: text,
        'dry-run': flag,
        url: text,
        help: flag,
      },
    }).values;
  } catch (error) {
    throw new NotRun(`${/** @type {Error} */ (error).message}; --help lists the options`);
  }
}

/** @typedef {ReturnType<typeof readOptions>} Options */

/**
 * @param {string[]} parameters
 * @param {Environment} environment
 */
async function gate(parameters, environment) {
  const options = readOptions(parameters);
  const { print } = environment;
  if (options.help === true) {
    print(USAGE);
    return STATUS.pass;
  }
  const undecided = options.undecided ?? 'fail';
  if (undecided !== 'fail' && undecided !== 'pass') throw new NotRun('--undecided must be fail or pass');
  const timeoutMs = 60_000 * (numberOf(options, 'timeout') ?? DEFAULT_TIMEOUT_MINUTES);
  const files = [options.junit, options.markdown].filter((file) => file !== undefined);
  for (const file of files) refuseUnwritable(file);
  const api = clientOf(options.url ?? environment.url, environment.key);
  const plan = await readPlan(api, options, environment.variables);
  if (options['dry-run'] === true) {
    print(await estimate(api, plan));
    return STATUS.pass;
  }
  const deadline = performance.now() + timeoutMs;
  /** @type {string[]} */
  const started = [];
  let made;
  try {
    made = await start(api, plan, started);
    for (const id of made.ids) await awaitEnd(api, id, { deadline, environment });
  } catch (error) {
    // Nobody waits for it any more, so it should cost no more.
    for (const id of started) await api.write(`/v1/experiment/${id}/cancel`).catch(() => {});
    throw error;
  }
  const result = await api.read(`/v1/experiment/${made.candidateId}/gate`, {
    ...(options.rule !== undefined && { rules: options.rule }),
    ...(made.baselineId !== null && { baseline: made.baselineId }),
    ...(options.alpha !== undefined && { alpha: numberOf(options, 'alpha') }),
    ...(options.cluster !== undefined && { cluster: options.cluster }),
    undecided,
  });
  // What was paid for is told although a disk is full.
  print(resultText(result, made.candidateId));
  if (options.junit !== undefined) writeFileSync(options.junit, result.junit);
  if (options.markdown !== undefined) writeFileSync(options.markdown, result.markdown);
  return result.outcome === 'undecided' && undecided === 'pass'
    ? STATUS.pass
    : STATUS[/** @type {'pass'} */ (result.outcome)];
}

/** Ends the gate before it costs anything when its result could not be written. @param {string} file */
function refuseUnwritable(file) {
  const path = resolve(file);
  try {
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.isDirectory()) throw new Error('it is a directory');
    accessSync(there === undefined ? dirname(path) : path, constants.W_OK);
  } catch (error) {
    throw new NotRun(`"${file}" cannot be written: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * @param {string | null | undefined} url empty like the key, where a CI system lacks the variable
 * @param {string | null} key
 */
function clientOf(url, key) {
  if (!url) throw new NotRun('set ASSAY_URL, or --url, to the address of the API');
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new NotRun(`the address of the API must be like https://assay.example.com, but is "${url}"`);
  if (!key) throw new NotRun('set ASSAY_API_KEY to a key with the scopes read and write');

  /** @param {string} method @param {string} path @param {Json} [body] @returns {Promise<Json>} */
  async function call(method, path, body) {
    const response = await fetch(new URL(path, url ?? undefined), {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((/** @type {any} */ error) => {
      throw new Unreachable(`the API at ${url} cannot be reached: ${error.cause?.message ?? error.message}`);
    });
    const text = await response.text();
    /** @type {Json} */
    let answer;
    try {
      answer = JSON.parse(text);
    } catch {
      answer = { error: `${path} answered ${response.status}` };
    }
    if (response.ok) return answer.data;
    const Failure = response.status >= 500 || response.status === 429 ? Unreachable : NotRun;
    throw new Failure(answer.error);
  }

  /** Calls that change nothing are made again while the API is away. @param {() => Promise<Json>} attempt */
  async function patiently(attempt) {
    for (const end = performance.now() + PATIENCE_MS; ; ) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof Unreachable) || performance.now() > end) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  return {
    /** @param {string} path @param {Json} [body] */
    read: (path, body) => patiently(() => call(body === undefined ? 'GET' : 'POST', path, body)),
    /** @param {string} path @param {Json} [body] */
    write: (path, body) => call('POST', path, body),
  };
}

/** @typedef {ReturnType<typeof clientOf>} Api */

/** The API is away, or has too much to do. */
class Unreachable extends NotRun {}

/**
 * @param {Options} options
 * @param {'timeout' | 'alpha' | 'repetitions' | 'concurrency' | 'seed' | 'max-cost'} name
 */
function numberOf(options, name) {
  const text = options[name];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value))
    throw new NotRun(`--${name} must be a number, but is "${text}"`);
  return value;
}

/**
 * The experiments to be made and compared.
 * @typedef {object} Plan
 * @property {Json} candidate the body that makes it
 * @property {Json | null} baseline the body that makes it, if a target is the baseline
 * @property {string | null} baselineId
 * @property {string | null} experimentId the candidate, if it is there already
 */

/**
 * @param {Api} api
 * @param {Options} options
 * @param {Record<string, string | undefined>} variables
 * @returns {Promise<Plan>}
 */
async function readPlan(api, options, variables) {
  const { experiment, dataset, target, baseline, rule: rules } = options;
  if (experiment !== undefined) {
    if (options['dry-run'] === true)
      throw new NotRun(
        '--dry-run tells what an experiment would take, and --experiment is one that is there',
      );
    if (dataset !== undefined || target !== undefined)
      throw new NotRun('--experiment stands in place of --dataset and --target');
    if (baseline !== undefined && !UUID.test(baseline))
      throw new NotRun('--baseline must be the id of an experiment beside --experiment');
    return { candidate: {}, baseline: null, baselineId: baseline ?? null, experimentId: experiment };
  }
  if (dataset === undefined || target === undefined || baseline === undefined || rules === undefined)
    throw new NotRun('--dataset, --target, --baseline and --rule are required; --help lists the options');
  const common = {
    ...(await readDataset(api, dataset)),
    ...(options.split !== undefined && { split: options.split }),
    evaluatorIds: await readEvaluators(api, [...(options.evaluator ?? []), ...evaluatorsOf(rules)]),
    repetitions: numberOf(options, 'repetitions'),
    concurrency: numberOf(options, 'concurrency'),
    seed: numberOf(options, 'seed'),
    maxCost: numberOf(options, 'max-cost'),
    cache: options.cache,
    git: gitOf(variables),
  };
  const read = await readTarget(api, target);
  const candidate = { ...common, name: options.name ?? `Gate: ${target}`.slice(0, 200), target: read, rules };
  if (baseline === 'recorded' || UUID.test(baseline))
    return { candidate: { ...candidate, baseline }, baseline: null, baselineId: null, experimentId: null };
  const other = await readBaseline(api, baseline, read);
  const name = `Baseline: ${baseline}`.slice(0, 200);
  return {
    candidate,
    baseline: { ...common, name, target: other, reuse: true },
    baselineId: null,
    experimentId: null,
  };
}

/** Returns the evaluators that rules name. @param {string[]} rules */
function evaluatorsOf(rules) {
  return rules.flatMap((rule) => {
    const parts = RULE_METRIC.exec(rule);
    const metric = parts?.[1] ?? parts?.[2];
    return metric === undefined || BUILT_IN.has(metric.toLowerCase()) ? [] : [metric];
  });
}

/** Splits a name from what stands behind its last @. @param {string} text */
function atSign(text) {
  const at = text.lastIndexOf('@');
  return at <= 0
    ? { name: text, behind: undefined }
    : { name: text.slice(0, at), behind: text.slice(at + 1) };
}

/** @param {Api} api @param {string} text */
async function readDataset(api, text) {
  const { name, behind } = atSign(text);
  if (behind !== undefined && !/^[1-9]\d*$/.test(behind))
    throw new NotRun(`--dataset must name a version by its number behind the @, but is "${text}"`);
  const version = behind === undefined ? {} : { datasetVersion: Number(behind) };
  if (UUID.test(name)) return { datasetId: name, ...version };
  return { datasetId: (await findDataset(api, name)).id, ...version };
}

/** Looks through all datasets whose names hold this one. @param {Api} api @param {string} name */
async function findDataset(api, name) {
  /** @type {Json[]} */
  const all = [];
  for (let after = null; ; ) {
    const body = { search: name, limit: PAGE, ...(after !== null && { after }) };
    const { datasets, next } = await api.read('/v1/dataset/query', body);
    all.push(...datasets);
    if (next === null) return named(all, name, 'dataset');
    after = next;
  }
}

/** Looks through all prompts whose names hold this one. @param {Api} api @param {string} name */
async function findPrompt(api, name) {
  /** @type {Json[]} */
  const all = [];
  for (let page = 0; ; page += 1) {
    const body = { search: name, pageSize: PAGE, page };
    const prompts = /** @type {any} */ (await api.read('/v1/prompt-2025/query', body));
    all.push(...prompts);
    if (prompts.length < PAGE) return named(all, name, 'prompt');
  }
}

/** @param {Api} api @param {string[]} wanted */
async function readEvaluators(api, wanted) {
  if (wanted.length === 0) return [];
  /** @type {any} */
  const evaluators = await api.read('/v1/evaluator');
  const ids = [...new Set(wanted)].map((name) =>
    UUID.test(name) ? name : named(evaluators, name, 'evaluator').id,
  );
  for (const one of evaluators) if (ids.includes(one.id)) refusePaused(one);
  return ids;
}

/** @param {Json[]} all @param {string} name @param {string} what */
function named(all, name, what) {
  const found =
    all.find((one) => one.name === name) ?? all.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (found === undefined) throw new NotRun(`there is no ${what} named "${name}"`);
  return found;
}

/** @param {Api} api @param {string} text @returns {Promise<Json>} */
async function readTarget(api, text) {
  if (text.startsWith('{')) {
    try {
      return JSON.parse(text);
    } catch {
      throw new NotRun(`this target is not JSON: ${text}`);
    }
  }
  if (text === 'replay' || text === 'recorded') return { kind: text };
  if (text.startsWith('model:')) return { kind: 'model', model: text.slice('model:'.length) };
  if (!text.startsWith('prompt:'))
    throw new NotRun(
      `a target is model:<model>, prompt:<prompt>, replay, recorded or JSON, but not "${text}"`,
    );
  const { name, behind } = atSign(text.slice('prompt:'.length));
  const promptId = UUID.test(name) ? name : (await findPrompt(api, name)).id;
  if (behind === undefined) return { kind: 'prompt', promptId };
  return {
    kind: 'prompt',
    promptId,
    ...(UUID.test(behind) ? { versionId: behind } : { environment: behind }),
  };
}

/** @param {Api} api @param {string} text @param {Json} target of the candidate */
async function readBaseline(api, text, target) {
  const isTarget = /^(?:\{|model:|prompt:|replay$)/.test(text);
  if (isTarget) return await readTarget(api, text);
  if (target.kind !== 'prompt')
    throw new NotRun(`a baseline is recorded, a target or the id of an experiment, but not "${text}"`);
  return { kind: 'prompt', promptId: target.promptId, environment: text };
}

/** Returns what CI systems tell of the commit. @param {Record<string, string | undefined>} of */
function gitOf(of) {
  const sha = of.GITHUB_SHA ?? of.CI_COMMIT_SHA;
  if (sha === undefined) return undefined;
  const branch = of.GITHUB_HEAD_REF || of.GITHUB_REF_NAME || of.CI_COMMIT_REF_NAME;
  const run =
    of.GITHUB_RUN_ID === undefined
      ? of.CI_JOB_URL
      : `${of.GITHUB_SERVER_URL}/${of.GITHUB_REPOSITORY}/actions/runs/${of.GITHUB_RUN_ID}`;
  return { sha, ...(branch !== undefined && { branch }), ...(run !== undefined && { url: run }) };
}

/**
 * Makes what is not there yet.
 * @param {Api} api
 * @param {Plan} plan
 * @param {string[]} started gets the ids of what was made, also when the rest cannot be
 */
async function start(api, plan, started) {
  if (plan.experimentId !== null) {
    const { baseline_id } = await api.read(`/v1/experiment/${plan.experimentId}`);
    const baselineId = plan.baselineId ?? baseline_id;
    const ids = baselineId === null ? [plan.experimentId] : [baselineId, plan.experimentId];
    return { candidateId: plan.experimentId, baselineId, ids };
  }
  // What is wrong with the candidate is told before the baseline costs anything.
  if (plan.baseline !== null) await api.write('/v1/experiment', { ...plan.candidate, dryRun: true });
  const baseline = plan.baseline === null ? null : await api.write('/v1/experiment', plan.baseline);
  // One that is reused belongs to whoever made it.
  if (baseline !== null && baseline.completed === 0 && baseline.state === 'running')
    started.push(baseline.id);
  const body = baseline === null ? plan.candidate : { ...plan.candidate, baseline: baseline.id };
  const candidate = await api.write('/v1/experiment', body);
  started.push(candidate.id);
  return {
    candidateId: candidate.id,
    baselineId: candidate.baseline_id,
    ids: [candidate.baseline_id, candidate.id],
  };
}

/**
 * Waits until all answers of an experiment are there and graded.
 * @param {Api} api
 * @param {string} id
 * @param {{ deadline: number, environment: Environment }} options
 */
async function awaitEnd(api, id, { deadline, environment: { progress, stop } }) {
  const began = performance.now();
  let shown = Number.NEGATIVE_INFINITY;
  let looked = Number.NEGATIVE_INFINITY;
  const isTerminal = progress.isTTY === true;
  for (;;) {
    const experiment = await api.read(`/v1/experiment/${id}`);
    const isEnded = experiment.state === 'completed' && experiment.ungraded === 0;
    const now = performance.now();
    if (isTerminal) progress.write(`\r\u001b[2K${isEnded ? '' : progressText(experiment, now - began)}`);
    else if (!isEnded && now - shown >= LINE_EVERY_MS) {
      shown = now;
      progress.write(`${progressText(experiment, now - began)}\n`);
    }
    if (isEnded) return;
    if (experiment.state !== 'running' && experiment.state !== 'completed')
      throw new NotRun(stoppedText(experiment));
    if (stop.aborted) throw new NotRun('it was stopped');
    if (experiment.ungraded > 0 && now - looked >= LINE_EVERY_MS) {
      looked = now;
      await refuseUngradable(api, experiment);
    }
    if (now > deadline)
      throw new NotRun(`"${experiment.name}" did not end in time: ${progressText(experiment, now - began)}`);
    await sleep(POLL_MS, undefined, { signal: stop }).catch(() => {});
  }
}

/** Ends the gate when grades wait for a person, or for the next day. @param {Api} api @param {Json} experiment */
async function refuseUngradable(api, { id, name, evaluators }) {
  /** @type {any} */
  const all = await api.read('/v1/evaluator');
  for (const one of all)
    if (evaluators.some((/** @type {Json} */ used) => used.id === one.id)) refusePaused(one);
  const waiting = { runId: id, state: 'pending', errorCode: 'budget_exhausted', limit: 1 };
  /** @type {any} */
  const [unpaid] = await api.read('/v1/evaluation/query', waiting);
  if (unpaid === undefined) return;
  throw new NotRun(
    `grades of "${name}" by "${unpaid.evaluator_name}" wait for the next day (UTC), as the budget of this day is spent`,
  );
}

/** @param {Json} evaluator */
function refusePaused({ name, paused }) {
  if (paused === null) return;
  const why = paused.message === null ? paused.reason : `${paused.reason}: ${paused.message}`;
  throw new NotRun(`the evaluator "${name}" is paused (${why}); mend the cause, then resume it`);
}

/** @param {Json} experiment */
function stoppedText({ name, state, paused_reason, max_cost_usd }) {
  if (state === 'budget') return `"${name}" has spent its budget of ${max_cost_usd} US dollars`;
  return `"${name}" is ${state}${paused_reason === null ? '' : `: ${paused_reason}`}`;
}

/** @param {Json} experiment @param {number} elapsedMs */
function progressText(
  { name, runs, completed, failed, skipped, ungraded, cost_usd, judge_cost_usd },
  elapsedMs,
) {
  const done = completed + failed + skipped;
  const filled = runs === 0 ? BAR_WIDTH : Math.floor((done / runs) * BAR_WIDTH);
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}]`;
  const left =
    done > 0 && done < runs ? `, ${Math.ceil((elapsedMs / done / 1_000) * (runs - done))} s left` : '';
  const parts = [
    `${done}/${runs} answers`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(ungraded > 0 ? [`${ungraded} grades to come`] : []),
    `$${(cost_usd + judge_cost_usd).toFixed(4)}`,
  ];
  return `${bar} ${name}: ${parts.join(', ')}${left}`;
}

/** Tells what a gate would take: its candidate, and a baseline that is not measured yet. @param {Api} api @param {Plan} plan */
async function estimate(api, plan) {
  const candidate = await api.write('/v1/experiment', { ...plan.candidate, dryRun: true });
  const baseline =
    plan.baseline === null ? null : await api.write('/v1/experiment', { ...plan.baseline, dryRun: true });
  const lines = [
    `${candidate.items} items, ${candidate.runs} calls`,
    ...costLines(candidate),
    ...(baseline === null || baseline.runs === 0
      ? []
      : [`the baseline is not measured yet: ${baseline.runs} calls more`, ...costLines(baseline)]),
    ...candidate.detectable.map((/** @type {Json} */ one) => detectableText(one, candidate.groups)),
  ];
  return `${lines.join('\n')}\n`;
}

/** @param {Json} estimate */
function costLines({ answers_cost_usd, at_most_usd, judge_cost_usd, duration_ms }) {
  const dollars = (/** @type {number | null} */ usd) => (usd === null ? 'unknown' : `$${usd.toFixed(4)}`);
  return [
    `answers: ${dollars(answers_cost_usd)}, at most ${dollars(at_most_usd)}; judges: ${dollars(judge_cost_usd)}`,
    `time: ${duration_ms === null ? 'unknown' : `${Math.ceil(duration_ms / 1_000)} s`}`,
  ];
}

/** @param {Json} evaluator @param {number} groups */
function detectableText({ name, difference, scores }, groups) {
  if (difference === null) return `${name}: ${groups} items are too few to find any difference`;
  const by = scores === 0 ? 'if its scores spread over its whole scale' : `by its last ${scores} scores`;
  return `${name}: a difference of ${difference.toPrecision(2)} is found four times in five, ${by}`;
}

/** @param {Json} result @param {string} id */
function resultText({ outcome, rules }, id) {
  /** @type {Record<string, string>} */
  const words = { pass: 'passed', fail: 'failed', undecided: 'is undecided' };
  const lines = rules.map(
    (/** @type {Json} */ rule) => `  ${rule.outcome.padEnd(9)}  ${rule.rule}\n             ${rule.sentence}`,
  );
  return `The gate ${words[outcome]} (experiment ${id})\n${lines.join('\n')}\n`;
}

/** Returns whether this file is what Node was told to run. */
function isProgram() {
  try {
    return realpathSync(process.argv[1] ?? '') === fileURLToPath(import.meta.url);
  } catch {
    return false;
  }
}

if (isProgram()) {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());
  process.exitCode = await runGate(process.argv.slice(2), {
    url: process.env.ASSAY_URL ?? null,
    key: process.env.ASSAY_API_KEY ?? null,
    variables: process.env,
    progress: process.stderr,
    print: (text) => process.stdout.write(text),
    stop: stop.signal,
  });
}
