import type { ProviderName } from '#core/contracts/provider.ts';
import type { OperatorGroup, OperatorModel } from '#core/models/mod.ts';

/** The providers and models that a gateway can call. */
export type GatewayFacts = {
  /** The providers with a configured address. */
  providers: Partial<Record<ProviderName, ProviderFacts>>;
  /** The models of MODELS_FILE. */
  models: OperatorModel[];
  groups: OperatorGroup[];
};

export type ProviderFacts = {
  /** True when calls need no provider key of the client or its organization. */
  isOpen: boolean;
  /** The variable that sets the operator's key. */
  keyVariable: string;
};

/** The capabilities of an evaluators process. */
export type EvaluatorsFacts = {
  /** The tier of its Python sandbox; `none`: it runs no Python. */
  sandbox: string;
  /** Why there is no stronger sandbox; null with the strongest. */
  why: string | null;
};

/** The facts by role; null: others need to know nothing of it. */
export type ProcessFacts = { gateway: GatewayFacts; evaluators: EvaluatorsFacts; api: null; ingest: null };
