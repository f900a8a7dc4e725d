import type { Identity } from './session.ts';

/**
 * What the bearer of a token may do at the gateway:
 * `agent` calls tools as one agent for one subject; `operator` sees everything and stops, resolves, pauses and explains;
 * `approver` sees questions and decides them; `admin` also changes the policy and makes tokens.
 */
export const TOKEN_SCOPES = ['agent', 'operator', 'approver', 'admin'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** A token as the store keeps it. The secret itself is shown once and stored nowhere. */
export interface GatewayToken {
  /** Part of the token's text, so that it can be found; no secret. */
  readonly id: string;
  /** Who or what it was made for, as people call it. Stands in the audit for what its bearer decides. */
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** Whom calls are made for; there exactly with the scope `agent`. */
  readonly identity?: Identity;
  /** `TENANT/SUBJECT` an approver decides as. Absent: as an operator, who may decide every question. */
  readonly decidesAs?: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly revokedAt?: number;
}

export const TOKEN_LIMITS = Object.freeze({
  nameLength: 100,
  defaultLifetimeMs: 30 * 24 * 60 * 60 * 1000,
  mostLifetimeMs: 366 * 24 * 60 * 60 * 1000,
  mostTokens: 10_000,
});
