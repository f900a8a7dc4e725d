import type { RefusedBy, ReviewedResult } from '../../domain/call/ending.ts';
import type { GateFacts } from '../../domain/ports/staged-calls.ts';
import type { JsonObject } from '../../base/json.ts';
import type { LoopSettings } from '../../domain/policy/loop-settings.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { Effect, ToolDeclaration } from '../../domain/tool/tool.ts';
import type { Redactor } from '../../domain/ports/redactor.ts';
import { cutDetail, withArguments } from '../../domain/audit/audit-detail.ts';
import { sha256 } from '../../base/sha256.ts';
import { encode } from '../../base/message-pack.ts';
import { resultDigest } from '../../domain/outcome/result-digest.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import type { SentCall } from './sent-call.ts';

/** What the audit keeps of a settled call in addition to what the store adds. Arguments are kept only as the redactor shows them. */
export interface SettlementFacts {
  /** The call as it was sent. */
  readonly sent?: SentCall;
  readonly toolDigest?: string;
  readonly policyVersion?: number;
  readonly permission?: string;
  readonly effect?: Effect;
  /** The declaration that says which arguments are secret. Absent: the record has no values of arguments. */
  readonly tool?: ToolDeclaration;
  /** The arguments that ran, or would have run. */
  readonly arguments?: JsonObject;
  readonly loops?: LoopSettings;
  /** Milliseconds from the delivery to this worker until the end of the gate. */
  readonly gateMs?: number;
  /** Why the gate allowed the call and with which arguments, or what refused it. */
  readonly gate?: GateFacts & RefusedBy;
  /** Present when a result hook replaced or withheld the result. */
  readonly reviewed?: ReviewedResult;
}

/** Cached records of one tool. The records of its usual calls differ only in their duration, so they are reused. */
interface KnownRecords {
  readonly policyVersion: number | undefined;
  readonly permission: string | undefined;
  /** By duration in milliseconds. */
  readonly encoded: Map<number, Uint8Array>;
}

/** One cache for the process, by tool digest. Without it, encoding the record would be a large part of settling a short call. */
const recordsOfTools = new BoundedCache<string, KnownRecords>(1000);
const MAX_MS = 128;

/** Encodes the audit detail of a settled call. The bytes may be shared with other calls: treat them as read-only. */
export function encodeAudit(
  sent: Outcome,
  facts: SettlementFacts,
  durationMs: number,
  redactor?: Redactor,
): Uint8Array {
  const fixed = encodeFixed(sent, facts, durationMs);
  if (redactor === undefined || facts.sent === undefined) return fixed;
  const args = facts.gate?.effective ?? facts.sent.arguments;
  const { tool } = facts;
  const shown = tool === undefined ? notKept(args) : redactSafely(() => redactor.arguments(args, tool));
  const withShown = withArguments(fixed, shown);
  if (sent.error === undefined) return withShown;
  const detail = cutDetail(redactSafely(() => redactor.text(sent.error!.message)));
  return Buffer.concat([withShown, encode({ detail })]);
}

/**
 * Stands for the arguments when the tool's definition is unknown: any value may be a secret then. The body digest in the record covers all
 * of them.
 */
function notKept(args: string): string {
  return `"not shown: which arguments are secret is not known (${Buffer.byteLength(args)} bytes)"`;
}

/** A failed redaction must not lose the outcome: the record then has a placeholder, and its digests are still there. */
function redactSafely(redact: () => string): string {
  try {
    return redact();
  } catch {
    return '"not shown: redaction failed"';
  }
}

/** Encodes everything but the arguments. */
function encodeFixed(sent: Outcome, facts: SettlementFacts, durationMs: number): Uint8Array {
  const { toolDigest, policyVersion, permission } = facts;
  const isUsual =
    isEmpty(facts.gate) &&
    facts.reviewed === undefined &&
    !isNoticed(facts.gateMs) &&
    sent.kind === 'ok' &&
    sent.executed === 'yes' &&
    durationMs >= 0 &&
    durationMs < MAX_MS &&
    facts.sent?.parent === undefined;
  if (!isUsual || toolDigest === undefined) return encodeRecord(sent, facts, durationMs);
  let records = recordsOfTools.get(toolDigest);
  if (records === undefined || records.policyVersion !== policyVersion || records.permission !== permission) {
    records = recordsOfTools.set(toolDigest, { policyVersion, permission, encoded: new Map() });
  }
  const before = records.encoded.get(durationMs);
  if (before !== undefined) return before;
  // Copy the bytes. The encoded value is a view of the encoder's whole buffer, and would keep that buffer in memory.
  const encoded = Uint8Array.from(encodeRecord(sent, facts, durationMs));
  records.encoded.set(durationMs, encoded);
  return encoded;
}

function encodeRecord(sent: Outcome, facts: SettlementFacts, durationMs: number): Uint8Array {
  return encode({
    outcome: sent.kind,
    executed: sent.executed,
    code: sent.error?.code ?? null,
    durationMs,
    ...(isNoticed(facts.gateMs) ? { gateMs: facts.gateMs } : {}),
    toolDigest: facts.toolDigest ?? facts.sent?.toolDigest ?? null,
    policyVersion: facts.policyVersion ?? null,
    permission: facts.permission ?? null,
    ...(facts.sent?.parent === undefined ? {} : { parent: facts.sent.parent }),
    ...gateRecord(sent, facts.gate),
    ...resultRecord(sent, facts.reviewed),
  });
}

/**
 * A gate time below this many milliseconds is not recorded. It only means waiting behind other calls of the same batch, and a record with a
 * gate time could not be shared by other calls.
 */
const NOTICED_MS = 10;

function isNoticed(gateMs: number | undefined): boolean {
  return gateMs !== undefined && gateMs >= NOTICED_MS;
}

function isEmpty(gate: (GateFacts & RefusedBy) | undefined): boolean {
  if (gate === undefined) return true;
  for (const _name in gate) return false;
  return true;
}

/** Which rule, hook, grant or approval allowed or stopped the call, and the digest of what ran. */
function gateRecord({ error }: Outcome, gate: GateFacts & RefusedBy = {}): Record<string, unknown> {
  const rule = gate.rule ?? (error?.code === 'RULE_DENIED' ? error.facts?.['rule'] : undefined);
  const hooks = gate.changedBy?.map(({ hook }) => hook);
  const detector = error?.facts?.['detector'] ?? gate.detector;
  return {
    ...(rule === undefined ? {} : { rule }),
    ...(gate.grant === undefined ? {} : { grant: gate.grant }),
    ...(gate.approval === undefined ? {} : { approval: gate.approval }),
    ...(gate.effective === undefined ? {} : { effectiveDigest: sha256(gate.effective) }),
    ...(hooks === undefined || hooks.length === 0 ? {} : { changedBy: hooks }),
    ...(detector === undefined ? {} : { detector }),
    ...(gate.hook === undefined ? {} : { hook: gate.hook }),
    ...(gate.askers === undefined ? {} : { askers: gate.askers }),
  };
}

/** Digests of the tool's own result and of the result that was settled instead, and the hooks that changed or withheld it. */
function resultRecord(sent: Outcome, reviewed: ReviewedResult | undefined): Record<string, unknown> {
  if (reviewed === undefined) return {};
  const { own, changedBy, withheldBy } = reviewed;
  return {
    ownResultDigest: resultDigest(own),
    resultDigest: resultDigest(sent),
    ...(changedBy === undefined ? {} : { resultChangedBy: changedBy }),
    ...(withheldBy === undefined ? {} : { hook: withheldBy }),
  };
}
