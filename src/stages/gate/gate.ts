/**
 * The checks between "may" and "does": rules, hooks, loops, approvals. None is configured yet, so every identified call is allowed;
 * the verdict is a value all the same, and settle writes it down.
 */
export interface Allowed<Identified> {
  readonly kind: 'allowed';
  readonly call: Identified;
}

export function gate<Identified>(call: Identified): Allowed<Identified> {
  return { kind: 'allowed', call };
}
