/** The pages by their addresses. Each group is fetched when one of its pages is first opened. */
import lazy from 'preact-iso/lazy';
import { Route, Router } from 'preact-iso/router';
import { NotFound } from './not-found/not-found.tsx';

const Overview = lazy(() => import('./overview/overview.tsx').then(({ Overview }) => Overview));
const Requests = lazy(() => import('./requests/requests.tsx').then(({ Requests }) => Requests));
const RequestPage = lazy(() => import('./reading.ts').then(({ RequestPage }) => RequestPage));
const Compare = lazy(() => import('./reading.ts').then(({ Compare }) => Compare));
const Sessions = lazy(() => import('./reading.ts').then(({ Sessions }) => Sessions));
const SessionPage = lazy(() => import('./reading.ts').then(({ SessionPage }) => SessionPage));
const Users = lazy(() => import('./reading.ts').then(({ Users }) => Users));
const UserPage = lazy(() => import('./reading.ts').then(({ UserPage }) => UserPage));
const Evaluators = lazy(() => import('./improving.ts').then(({ Evaluators }) => Evaluators));
const EvaluatorPage = lazy(() => import('./improving.ts').then(({ EvaluatorPage }) => EvaluatorPage));
const Prompts = lazy(() => import('./improving.ts').then(({ Prompts }) => Prompts));
const PromptPage = lazy(() => import('./improving.ts').then(({ PromptPage }) => PromptPage));
const Review = lazy(() => import('./grading.ts').then(({ Review }) => Review));
const ReviewQueuePage = lazy(() => import('./grading.ts').then(({ ReviewQueuePage }) => ReviewQueuePage));
const CriterionPage = lazy(() => import('./grading.ts').then(({ CriterionPage }) => CriterionPage));
const Playground = lazy(() => import('./improving.ts').then(({ Playground }) => Playground));
const Datasets = lazy(() => import('./measuring.ts').then(({ Datasets }) => Datasets));
const DatasetPage = lazy(() => import('./measuring.ts').then(({ DatasetPage }) => DatasetPage));
const Experiments = lazy(() => import('./measuring.ts').then(({ Experiments }) => Experiments));
const ExperimentComparison = lazy(() =>
  import('./measuring.ts').then(({ ExperimentComparison }) => ExperimentComparison),
);
const ExperimentPage = lazy(() => import('./measuring.ts').then(({ ExperimentPage }) => ExperimentPage));
const Limits = lazy(() => import('./running.ts').then(({ Limits }) => Limits));
const Keys = lazy(() => import('./running.ts').then(({ Keys }) => Keys));
const Webhooks = lazy(() => import('./running.ts').then(({ Webhooks }) => Webhooks));
const Alerts = lazy(() => import('./running.ts').then(({ Alerts }) => Alerts));
const DeadLetters = lazy(() => import('./running.ts').then(({ DeadLetters }) => DeadLetters));
const System = lazy(() => import('./running.ts').then(({ System }) => System));
const Settings = lazy(() => import('./running.ts').then(({ Settings }) => Settings));

/** The pages that people open first, and how to ask for what they show. */
const LANDING_PAGES = new Map([
  [
    '/',
    {
      page: Overview,
      ask: () => import('./overview/overview.tsx').then(({ askOverviewAhead }) => askOverviewAhead()),
    },
  ],
  [
    '/requests',
    {
      page: Requests,
      ask: () => import('./requests/requests.tsx').then(({ askRowsAhead }) => askRowsAhead()),
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
