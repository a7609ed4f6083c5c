/** The pages by their addresses. Each group is fetched when one of its pages is first opened. */
import type { ComponentType } from 'preact';
import lazy from 'preact-iso/lazy';
import { Route, Router } from 'preact-iso/router';
import { MissingPage } from '../parts/failure/load-again.tsx';
import { NotFound } from './not-found/not-found.tsx';

/** Returns a page of a group; one that cannot be fetched says so: after an upgrade, the files of the version before are gone. */
function page<Group, Props>(fetchGroup: () => Promise<Group>, pick: (group: Group) => ComponentType<Props>) {
  return lazy<ComponentType<Props>>(() => fetchGroup().then(pick, () => MissingPage));
}

const overview = () => import('./overview/overview.tsx');
const requests = () => import('./requests/requests.tsx');
const reading = () => import('./reading.ts');
const improving = () => import('./improving.ts');
const grading = () => import('./grading.ts');
const measuring = () => import('./measuring.ts');
const running = () => import('./running.ts');

const Overview = page(overview, (group) => group.Overview);
const Requests = page(requests, (group) => group.Requests);
const RequestPage = page(reading, (group) => group.RequestPage);
const Compare = page(reading, (group) => group.Compare);
const Sessions = page(reading, (group) => group.Sessions);
const SessionPage = page(reading, (group) => group.SessionPage);
const Users = page(reading, (group) => group.Users);
const UserPage = page(reading, (group) => group.UserPage);
const Evaluators = page(improving, (group) => group.Evaluators);
const EvaluatorPage = page(improving, (group) => group.EvaluatorPage);
const Prompts = page(improving, (group) => group.Prompts);
const PromptPage = page(improving, (group) => group.PromptPage);
const Review = page(grading, (group) => group.Review);
const ReviewQueuePage = page(grading, (group) => group.ReviewQueuePage);
const CriterionPage = page(grading, (group) => group.CriterionPage);
const Playground = page(improving, (group) => group.Playground);
const Datasets = page(measuring, (group) => group.Datasets);
const DatasetPage = page(measuring, (group) => group.DatasetPage);
const Experiments = page(measuring, (group) => group.Experiments);
const ExperimentComparison = page(measuring, (group) => group.ExperimentComparison);
const ExperimentPage = page(measuring, (group) => group.ExperimentPage);
const Limits = page(running, (group) => group.Limits);
const Keys = page(running, (group) => group.Keys);
const Webhooks = page(running, (group) => group.Webhooks);
const Alerts = page(running, (group) => group.Alerts);
const DeadLetters = page(running, (group) => group.DeadLetters);
const System = page(running, (group) => group.System);
const Settings = page(running, (group) => group.Settings);

/** The pages that people open first, and how to ask for what they show. */
const LANDING_PAGES = new Map([
  [
    '/',
    {
      page: Overview,
      ask: () => overview().then(({ askOverviewAhead }) => askOverviewAhead()),
    },
  ],
  [
    '/requests',
    {
      page: Requests,
      ask: () => requests().then(({ askRowsAhead }) => askRowsAhead()),
    },
  ],
]);

/**
 * Has the page of a path ready when it is known who is logged in, with what it shows if that may be asked. A page that cannot be
 * fetched says so when it is rendered.
 */
export function preparePage(path: string, mayAsk: boolean): void {
  const landing = LANDING_PAGES.get(path);
  if (landing === undefined) return;
  if (mayAsk) landing.ask().catch(() => {});
  void landing.page.preload();
}

/** Shows the page of the address. */
export function Pages() {
  return (
    <Router>
      <Route path="/" component={Overview} />
      <Route path="/requests" component={Requests} />
      <Route path="/requests/:id" component={RequestPage} />
      <Route path="/compare" component={Compare} />
      <Route path="/sessions" component={Sessions} />
      <Route path="/sessions/:id" component={SessionPage} />
      <Route path="/users" component={Users} />
      <Route path="/users/:id" component={UserPage} />
      <Route path="/evaluators" component={Evaluators} />
      <Route path="/evaluators/:id" component={EvaluatorPage} />
      <Route path="/review" component={Review} />
      <Route path="/review/:id" component={ReviewQueuePage} />
      <Route path="/review/criteria/:id" component={CriterionPage} />
      <Route path="/prompts" component={Prompts} />
      <Route path="/prompts/:id" component={PromptPage} />
      <Route path="/playground" component={Playground} />
      <Route path="/datasets" component={Datasets} />
      <Route path="/datasets/:id" component={DatasetPage} />
      <Route path="/experiments" component={Experiments} />
      <Route path="/experiments/compare" component={ExperimentComparison} />
      <Route path="/experiments/:id" component={ExperimentPage} />
      <Route path="/limits" component={Limits} />
      <Route path="/keys" component={Keys} />
      <Route path="/webhooks" component={Webhooks} />
      <Route path="/alerts" component={Alerts} />
      <Route path="/dead-letters" component={DeadLetters} />
      <Route path="/system" component={System} />
      <Route path="/settings" component={Settings} />
      <Route default component={NotFound} />
    </Router>
  );
}
