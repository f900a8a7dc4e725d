import type { ReviewedResult } from '../../domain/ending.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { LoopSettings } from '../../domain/loop-settings.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Effect, ToolDeclaration } from '../../domain/tool.ts';
import type { Redactor } from '../../ports/redactor.ts';
import { cutDetail, withArguments } from '../../wire/audit-detail.ts';
import { sha256 } from '../../wire/digest.ts';
import { decodeEnvelope } from '../../wire/envelope.ts';
import { encode } from '../../wire/message-pack.ts';
import { resultDigest } from '../../wire/result-digest.ts';

/** What the audit keeps of a settled call beside what the store adds. Of arguments only what a redactor leaves of them. */
export interface SettlementFacts {
  /** As it was sent. */
  readonly sent?: SentCall;
  readonly toolDigest?: string;
  readonly policyVersion?: number;
  readonly permission?: string;
  readonly effect?: Effect;
  readonly tool?: ToolDeclaration;
  /** Those that ran, or would have. */
  readonly arguments?: JsonObject;
  /** How the agent's runs are kept from loops. */
  readonly loops?: LoopSettings;
  /** From the worker's having it to the gate's letting it through. */
  readonly gateMs?: number;
  /** Why the gate let it through, and as what. */
  readonly gate?: GateFacts;
  /** Present when a result hook replaced or withheld the result. */
  readonly reviewed?: ReviewedResult;
}

/** The envelope's part of a record. */
interface SentCall {
  /** Canonical JSON. */
  readonly arguments: string;
  readonly toolDigest: string;
  readonly parent?: string | undefined;
  /** W3C. */
  readonly trace?: string | undefined;
}

interface GateFacts {
  readonly effective?: string;
  readonly advice?: string;
  /** What warned of a loop. */
  readonly detector?: string;
  readonly rule?: string;
  readonly grant?: string;
  readonly approval?: string;
  readonly changedBy?: readonly { readonly hook: string }[];
  /** The hook that blocked the call, failed or timed out. */
  readonly hook?: string;
  /** The rules and hooks that wanted a person to be asked about a call that was denied at once. */
  readonly askers?: readonly string[];
}

/** Of one tool, records differ in how long the call took and, rarely, in how it ended; so the last ones are kept. */
interface KnownRecords {
  readonly policyVersion: number | undefined;
  readonly permission: string | undefined;
  /** By duration. */
  readonly encoded: Map<number, Uint8Array>;
}

const known = new Map<string, KnownRecords>();
const MOST_TOOLS = 1000;
const MOST_MS = 128;

/** What the audit keeps of a settled call. The bytes may be shared with other calls: they are read only. */
export function encodeAudit(
  sent: Outcome,
  facts: SettlementFacts,
  durationMs: number,
  redactor?: Redactor,
): Uint8Array {
  const fixed = encodeFixed(sent, facts, durationMs);
  if (redactor === undefined || facts.sent === undefined) return fixed;
  const shown = redactSafely(() => redactor.arguments(facts.gate?.effective ?? facts.sent!.arguments, facts.tool));
  const withShown = withArguments(fixed, shown);
  if (sent.error === undefined) return withShown;
  const detail = cutDetail(redactSafely(() => redactor.text(sent.error!.message)));
  return Buffer.concat([withShown, encode({ detail })]);
}

/** Of a call that ended before its envelope was read by a stage. Nothing when it cannot be read at all. */
export function readSent(envelope: Uint8Array): { readonly sent?: SentCall } {
  const decoded = envelope.length === 0 ? undefined : decodeEnvelope(envelope);
  return decoded?.kind === 'envelope' ? { sent: decoded.envelope } : {};
}

/** An outcome is not lost because a part of its record cannot be shown; its digests stand there all the same. */
function redactSafely(redact: () => string): string {
  try {
    return redact();
  } catch {
    return '"not shown: redaction failed"';
  }
}

/** All but the arguments. */
function encodeFixed(sent: Outcome, facts: SettlementFacts, durationMs: number): Uint8Array {
  const { toolDigest, policyVersion, permission } = facts;
  const isUsual =
    isEmpty(facts.gate) &&
    facts.reviewed === undefined &&
    !isNoticed(facts.gateMs) &&
    sent.kind === 'ok' &&
    sent.executed === 'yes' &&
    durationMs >= 0 &&
    durationMs < MOST_MS &&
    facts.sent?.parent === undefined;
  if (!isUsual || toolDigest === undefined) return encodeRecord(sent, facts, durationMs);
  let records = known.get(toolDigest);
  if (records === undefined || records.policyVersion !== policyVersion || records.permission !== permission) {
    if (known.size >= MOST_TOOLS) known.clear();
    known.set(toolDigest, (records = { policyVersion, permission, encoded: new Map() }));
  }
  const before = records.encoded.get(durationMs);
  if (before !== undefined) return before;
  // A copy, because an encoded value keeps the encoder's whole buffer.
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

/** A few milliseconds are the time behind others of the same batch, and a record of their own costs more than they tell. */
const NOTICED_MS = 10;

function isNoticed(gateMs: number | undefined): boolean {
  return gateMs !== undefined && gateMs >= NOTICED_MS;
}

function isEmpty(gate: GateFacts | undefined): boolean {
  if (gate === undefined) return true;
  for (const _name in gate) return false;
  return true;
}

/** Which rule, hook, grant or approval let the call through or stopped it, and the digest of what ran. */
function gateRecord({ error }: Outcome, gate: GateFacts = {}): Record<string, unknown> {
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

/** What the tool gave and what was settled in its place, as digests, and the hooks that did it. */
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
