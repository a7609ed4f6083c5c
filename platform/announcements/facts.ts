import type { ProviderName } from '#core/contracts/provider.ts';
import type { OperatorGroup, OperatorModel } from '#core/models/mod.ts';

/** What a gateway can call. */
export type GatewayFacts = {
  /** The providers that have an address here. */
  providers: Partial<Record<ProviderName, ProviderFacts>>;
  /** What MODELS_FILE says. */
  models: OperatorModel[];
  groups: OperatorGroup[];
};

export type ProviderFacts = {
  /** Whether the provider can be called without a key of the caller's or its organization's. */
  isOpen: boolean;
  /** The variable that sets the operator's key. */
  keyVariable: string;
};

/** What an evaluators process can run. */
export type EvaluatorsFacts = {
  /** The tier of its Python sandbox; `none`: it runs no Python. */
  sandbox: string;
  /** Why it has no stronger one; null with the strongest. */
  why: string | null;
};

/** What the processes of a role announce. */
export type Facts = { gateway: GatewayFacts; evaluators: EvaluatorsFacts };
