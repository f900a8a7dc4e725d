import type { Outcome } from '../../domain/outcome.ts';
import type { Effect, ToolDeclaration } from '../../domain/tool.ts';
import { sha256 } from '../../wire/digest.ts';
import { encode } from '../../wire/message-pack.ts';

/** What the audit keeps of a settled call beside what the store adds. Never argument values. */
export interface SettlementFacts {
  readonly toolDigest?: string;
  readonly policyVersion?: number;
  readonly permission?: string;
  readonly effect?: Effect;
  readonly tool?: ToolDeclaration;
  /** Why the gate let it through, and as what. */
  readonly gate?: GateFacts;
}

interface GateFacts {
  readonly effective?: string;
  readonly advice?: string;
  readonly rule?: string;
  readonly grant?: string;
  readonly approval?: string;
  readonly changedBy?: readonly { readonly hook: string }[];
}

/** Of one tool, records differ in how long the call took and, rarely, in how it ended; so the last ones are kept. */
interface KnownRecords {
  readonly policyVersion: number | undefined;
  readonly permission: string | undefined;
  /** By duration. */
  readonly encoded: (Uint8Array | undefined)[];
}

const known = new Map<string, KnownRecords>();
const MOST_TOOLS = 1000;
const MOST_MS = 128;

/** What the audit keeps of a settled call. The bytes may be shared with other calls: they are read only. */
export function encodeAudit(sent: Outcome, facts: SettlementFacts, durationMs: number): Uint8Array {
  const { toolDigest, policyVersion, permission } = facts;
  const isUsual =
    isEmpty(facts.gate) && sent.kind === 'ok' && sent.executed === 'yes' && durationMs >= 0 && durationMs < MOST_MS;
  if (!isUsual || toolDigest === undefined) return encodeRecord(sent, facts, durationMs);
  let records = known.get(toolDigest);
  if (records === undefined || records.policyVersion !== policyVersion || records.permission !== permission) {
    if (known.size >= MOST_TOOLS) known.clear();
    known.set(toolDigest, (records = { policyVersion, permission, encoded: [] }));
  }
  // A copy, because an encoded value keeps the encoder's whole buffer.
  return (records.encoded[durationMs] ??= Uint8Array.from(encodeRecord(sent, facts, durationMs)));
}

function encodeRecord(sent: Outcome, facts: SettlementFacts, durationMs: number): Uint8Array {
  return encode({
    outcome: sent.kind,
    executed: sent.executed,
    code: sent.error?.code ?? null,
    durationMs,
    toolDigest: facts.toolDigest ?? null,
    policyVersion: facts.policyVersion ?? null,
    permission: facts.permission ?? null,
    ...gateRecord(sent, facts.gate),
  });
}

function isEmpty(gate: GateFacts | undefined): boolean {
  if (gate === undefined) return true;
  for (const _name in gate) return false;
  return true;
}

/** Which rule, grant or approval let the call through or stopped it, and the digest of what ran. */
function gateRecord({ error }: Outcome, gate: GateFacts = {}): Record<string, unknown> {
  const rule = gate.rule ?? (error?.code === 'RULE_DENIED' ? error.facts?.['rule'] : undefined);
  const hooks = gate.changedBy?.map(({ hook }) => hook);
  const detector = error?.facts?.['detector'];
  return {
    ...(rule === undefined ? {} : { rule }),
    ...(gate.grant === undefined ? {} : { grant: gate.grant }),
    ...(gate.approval === undefined ? {} : { approval: gate.approval }),
    ...(gate.effective === undefined ? {} : { effectiveDigest: sha256(gate.effective) }),
    ...(hooks === undefined || hooks.length === 0 ? {} : { changedBy: hooks }),
    ...(detector === undefined ? {} : { detector }),
  };
}
