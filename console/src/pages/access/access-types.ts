export const VERDICTS = ['allow', 'ask', 'depends', 'deny'] as const;
export type MatrixVerdict = (typeof VERDICTS)[number];

export interface MatrixCell {
  readonly verdict: MatrixVerdict;
  readonly decidedBy: string;
  readonly found: string;
}

/** As `GET /v1/matrix` answers. */
export interface Matrix {
  readonly agents: readonly string[];
  readonly tools: readonly string[];
  readonly cells: Readonly<Record<string, Readonly<Record<string, MatrixCell>>>>;
  readonly policyVersion: number;
  /** How many there are in all, when not all are shown. */
  readonly cut?: { readonly agents: number; readonly tools: number };
}

/** As `POST /v1/explain` and `sallyport explain --json` answer. */
export interface Explanation {
  readonly tool: string;
  readonly identity: { readonly tenant: string; readonly subject: string; readonly agent: string };
  readonly policyVersion: number;
  readonly allowed: boolean;
  readonly verdict: MatrixVerdict;
  readonly decidedBy: string;
  readonly checks: readonly CheckAnswer[];
  readonly changes: readonly ShownChange[];
  readonly near: readonly string[];
}

export interface CheckAnswer {
  readonly check: string;
  readonly passes: boolean;
  readonly found: string;
  readonly rule?: readonly string[];
  /** Where it stands in the policy file. */
  readonly place?: string;
}

/** One change of the policy that helps: a command to type, or what the policy must hold. */
export interface ShownChange {
  readonly kind: string;
  readonly command?: string;
  readonly edit?: string;
  readonly snippet?: unknown;
  readonly note?: string;
}

export interface Asked {
  readonly tenant?: string;
  readonly subject: string;
  readonly agent: string;
  readonly tool: string;
  readonly arguments?: unknown;
}
