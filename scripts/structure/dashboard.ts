/** The rules for dashboard/: it runs in browsers, and what it shows was written by strangers. */
import BUNDLED from '../dashboard/packages.json' with { type: 'json' };
import { packageOf, type Rule, topOf } from './rule.ts';
import { matchesByLine } from './source.ts';

/** The only file that may make a policy of Trusted Types. */
const POLICY = 'dashboard/workers/start.ts';

const NODE = /\b(?:Buffer|process|setImmediate|require|__dirname|__filename)\b(?=[.([])/g;
const SINK =
  /\b(?:innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|setHTMLUnsafe|srcdoc|srcDoc)\b|\bdocument\.write\b|\beval\(|\bnew Function\b/g;

/** Text on a page, such as an example for callers, may name what Node has. */
const TEXT = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

const isDashboard = (path: string) => topOf(path) === 'dashboard';

const dashboardStandsAlone: Rule = ({ path, imports }) =>
  isDashboard(path) || ['scripts', 'test'].includes(topOf(path))
    ? []
    : imports
        .filter(({ target }) => target !== null && isDashboard(target))
        .map(({ line }) => ({
          line,
          rule: 'only scripts and tests import dashboard: it runs in browsers; move what both need to core',
        }));

const dashboardRunsInBrowsers: Rule = ({ path, code, imports }) => {
  if (!isDashboard(path)) return [];
  const bad = imports
    .filter(({ specifier, target }) => target === null && !BUNDLED.includes(packageOf(specifier)))
    .map(({ line, specifier }) => ({
      line,
      rule: specifier.startsWith('node:')
        ? `dashboard must not import ${specifier}: it runs in browsers`
        : `dashboard must not import ${specifier}: list its package in scripts/dashboard/packages.json, which the image's build installs`,
    }));
  const withoutTexts = code.replaceAll(TEXT, (text) => text.replaceAll(/[^\n]/g, ' '));
  const used = matchesByLine(withoutTexts, NODE).map(({ line, text }) => ({
    line,
    rule: `dashboard must not use ${text}: it runs in browsers`,
  }));
  return [...bad, ...used];
};

const contractsAsTypes: Rule = ({ path, imports }) =>
  isDashboard(path)
    ? imports
        .filter(({ target, isType }) => target?.startsWith('core/contracts/') === true && !isType)
        .map(({ line }) => ({
          line,
          rule: 'dashboard takes types alone from core/contracts, by import type: its values bring TypeBox into the bundle',
        }))
    : [];

const noTextBecomesCode: Rule = ({ path, code }) => {
  if (!isDashboard(path)) return [];
  const sinks = matchesByLine(code, SINK).map(({ line, text }) => ({
    line,
    rule: `dashboard must not use ${text.replace('(', '')}: a record's text would become HTML or code, and the policy blocks it; make elements by JSX`,
  }));
  const policies = path === POLICY ? [] : matchesByLine(code, /\bcreatePolicy\b/g);
  return [
    ...sinks,
    ...policies.map(({ line }) => ({
      line,
      rule: `only ${POLICY} makes a policy of Trusted Types: start the worker by what it exports`,
    })),
  ];
};

export const DASHBOARD_RULES: readonly Rule[] = [
  dashboardStandsAlone,
  dashboardRunsInBrowsers,
  contractsAsTypes,
  noTextBecomesCode,
];
