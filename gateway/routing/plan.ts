/**
 * Plans the route of a call: the candidates that the text of `model` stands for, which is a model, a list of models with
 * commas between them, or a group of MODELS_FILE.
 */
import { LRUCache } from 'lru-cache';
import { AssayError, describeError } from '#core/contracts/errors.ts';
import { modelKey, type OperatorGroup, readModelList } from '#core/models/mod.ts';
import type { Candidate } from '../providers/resolve.ts';
import { drawOrder, type Weighted } from './draw.ts';

export type RoutePlan = {
  /** At least one, none twice; the first is tried first, the others when those before them fail. */
  candidates: readonly Candidate[];
};

export type PlannerOptions = {
  /** Finds the candidate for one model; throws AssayError model_not_found or provider_not_configured. */
  resolve(model: string): Candidate;
  groups: readonly OperatorGroup[];
  /** Numbers in [0, 1). */
  random(): number;
};

const PLANS_KEPT = 2_000;

type Members = Weighted<Candidate>[];

/**
 * Makes the function that plans routes. Fixed plans are kept: planning a call to one model is a look-up. Groups are drawn
 * anew for each call.
 *
 * The returned function throws AssayError invalid_body for a list that breaks a rule, and what `resolve` throws for one of
 * its models: a list that cannot work as written is a mistake, to be found before the day on which it is needed.
 * @throws Error that names each model of a group that leads nowhere
 */
export function createPlanner(options: PlannerOptions): (model: string) => RoutePlan {
  const { resolve, random } = options;
  const groups = membersOf(options);
  const known = new LRUCache<string, () => RoutePlan>({ max: PLANS_KEPT });

  function read(model: string): () => RoutePlan {
    const steps = readModelList(model, { find: resolve, groups });
    if (steps.every((step): step is Candidate => !Array.isArray(step))) {
      const plan: RoutePlan = { candidates: steps };
      return () => plan;
    }
    return () => ({ candidates: withoutRepeats(steps.flatMap((step) => drawn(step, random))) });
  }

  return (model) => {
    let plan = known.get(model);
    if (plan === undefined) {
      plan = read(model);
      known.set(model, plan);
    }
    return plan();
  };
}

/**
 * Checks a call that brings a provider key of its own: the key is for one provider, and no other must see it.
 * @throws AssayError invalid_body when the call could go to several
 */
export function requireOneProvider(candidates: readonly Candidate[]): void {
  const [first, ...others] = candidates.map(({ provider }) => provider);
  const other = others.find((provider) => provider !== first);
  if (other === undefined) return;
  throw new AssayError(
    'invalid_body',
    `model must name models of one provider, as the call brings a provider key of its own, but names some of ${first} and ${other}`,
  );
}

/** Returns the candidates of each group, by the group's id. */
function membersOf({ groups, resolve }: PlannerOptions): Map<string, Members> {
  const problems: string[] = [];
  const members = groups.map(({ id, routes }, group): [string, Members] => {
    const found = routes.flatMap(({ model, weight = 1 }, index) => {
      try {
        return [{ item: resolve(model), weight }];
      } catch (error) {
        problems.push(`groups.${group}.routes.${index}.model: ${describeError(error)}`);
        return [];
      }
    });
    return [id, found];
  });
  if (problems.length > 0) throw new Error(`MODELS_FILE cannot be used: ${problems.join('; ')}`);
  return new Map(members);
}

/** A candidate, or those of a group. */
type Step = Candidate | Members;

function drawn(step: Step, random: () => number): Candidate[] {
  return Array.isArray(step) ? drawOrder(step, random) : [step];
}

/** Groups may share models with each other and with the list: a second attempt would repeat the first. */
function withoutRepeats(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>();
  return candidates.filter((candidate) => {
    const isNew = !seen.has(modelKey(candidate));
    seen.add(modelKey(candidate));
    return isNew;
  });
}
