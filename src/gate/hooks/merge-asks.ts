import {
  APPROVAL_DECISIONS,
  SEVERITIES,
  type ApprovalDecision,
  type Asker,
  type Severity,
} from '../../domain/approval.ts';
import type { Ask } from '../../domain/hook.ts';

/** When nobody who asks names a time. */
export const DEFAULT_APPROVAL_MS = 120_000;

/** All wishes of one call as one: a person is asked once, and under the strictest terms anybody named. */
export interface MergedAsk {
  readonly askers: readonly Asker[];
  /** In the order they were asked for, without repetitions. */
  readonly reasons: readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly detail?: string;
  readonly severity: Severity;
  readonly timeoutMs: number;
  /** What all offer: `deny` always, `allow-always` only where a grant would answer everybody who asks. */
  readonly decisions: readonly ApprovalDecision[];
  /** One list per asker that names any: who decides is named in each of them. */
  readonly approvers: readonly (readonly string[])[];
  readonly quorum: number;
  readonly grantable: boolean;
}

/** Undefined when there is nothing to ask. */
export function mergeAsks(asks: readonly Ask[]): MergedAsk | undefined {
  if (asks.length === 0) return undefined;
  return {
    askers: asks.map(({ asker }) => asker),
    reasons: [...new Set(asks.flatMap(({ reason }) => reason ?? []))],
    ...textOf(asks, 'title'),
    ...textOf(asks, 'description'),
    ...textOf(asks, 'detail'),
    severity: SEVERITIES[Math.max(...asks.map(({ severity }) => SEVERITIES.indexOf(severity ?? 'warning')))]!,
    timeoutMs: shortest(asks.flatMap(({ timeoutMs }) => timeoutMs ?? [])),
    decisions: APPROVAL_DECISIONS.filter((decision) => asks.every((ask) => offers(ask, decision))),
    approvers: asks.flatMap(({ approvers }) => (approvers === undefined ? [] : [approvers])),
    quorum: Math.max(...asks.map(({ quorum }) => quorum ?? 1)),
    grantable: asks.every(({ asker }) => asker.grantable),
  };
}

function offers({ asker, decisions }: Ask, decision: ApprovalDecision): boolean {
  if (decision === 'deny') return true;
  if (decision === 'allow-always' && !asker.grantable) return false;
  return decisions === undefined || decisions.includes(decision);
}

function shortest(given: readonly number[]): number {
  return given.length === 0 ? DEFAULT_APPROVAL_MS : Math.min(...given);
}

/** Texts of several askers stand below each other, each once. A title is one line: the first. */
function textOf<Name extends 'title' | 'description' | 'detail'>(
  asks: readonly Ask[],
  name: Name,
): { readonly [Member in Name]?: string } {
  const texts = [...new Set(asks.flatMap((ask) => ask[name] ?? []))];
  if (texts.length === 0) return {};
  return { [name]: name === 'title' ? texts[0] : texts.join('\n\n') } as { readonly [Member in Name]?: string };
}
