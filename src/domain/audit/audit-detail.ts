import { AUDIT_LIMITS, type AuditFacts, type AuditPayload } from './audit-record.ts';
import type { Outcome } from '../outcome/outcome.ts';
import { takeBytes } from '../../base/byte-slab.ts';
import { decodeAll, encode } from '../../base/message-pack.ts';
import { shorten } from '../../base/cut-text.ts';

type Shape = 'text' | 'number' | 'texts' | 'true';

/** @internal */
export const FACTS: Record<keyof AuditFacts, Shape> = {
  parent: 'text',
  toolDigest: 'text',
  effectiveDigest: 'text',
  permission: 'text',
  policyVersion: 'number',
  rule: 'text',
  hook: 'text',
  changedBy: 'texts',
  resultChangedBy: 'texts',
  ownResultDigest: 'text',
  resultDigest: 'text',
  detector: 'text',
  by: 'text',
  binding: 'text',
  askers: 'texts',
  decision: 'text',
  editedDigest: 'text',
  resolution: 'text',
  claimedBy: 'text',
  outcome: 'text',
  executed: 'text',
  code: 'text',
  durationMs: 'number',
  gateMs: 'number',
  via: 'text',
  bearer: 'text',
  changed: 'texts',
  policyDigest: 'text',
  previousDigest: 'text',
  token: 'text',
  tokenName: 'text',
  scopes: 'texts',
  expiresAt: 'number',
  delegatedBy: 'text',
  sessions: 'number',
  unattended: 'true',
};
/** @internal */
export const FACT_NAMES = Object.keys(FACTS) as (keyof AuditFacts)[];
const PAYLOAD_NAMES = ['arguments', 'detail', 'comment'] as const satisfies readonly (keyof AuditPayload)[];

export interface AuditDetail {
  readonly facts: AuditFacts;
  readonly payload: AuditPayload;
}

const NOTHING: AuditDetail = Object.freeze({ facts: {}, payload: {} });

/**
 * Reads the part of a record that its author wrote: MessagePack maps, one after the other, so that authors can cache a constant map and
 * append others to it. If two maps have the same name, the value in the later map counts. Bytes in any other format give no facts and no
 * payload, but they stay in the record.
 */
export function readAuditDetail(bytes: Uint8Array): AuditDetail {
  const merged = mergeMaps(bytes);
  if (merged === undefined) return NOTHING;
  const facts: Record<string, unknown> = {};
  for (const name of FACT_NAMES) if (hasShape(merged[name], FACTS[name])) facts[name] = merged[name];
  const payload: Record<string, string> = {};
  for (const name of PAYLOAD_NAMES) if (typeof merged[name] === 'string') payload[name] = merged[name];
  return { facts, payload };
}

/** Appends one more map to `detail`: arguments that only the auditor can read. */
export function withSealed(detail: Uint8Array, sealed: Uint8Array): Uint8Array {
  return Buffer.concat([detail, encode({ sealed })]);
}

export function readSealed(bytes: Uint8Array): Uint8Array | undefined {
  const sealed = mergeMaps(bytes)?.['sealed'];
  return sealed instanceof Uint8Array ? sealed : undefined;
}

function mergeMaps(bytes: Uint8Array): Record<string, unknown> | undefined {
  let values: unknown[];
  try {
    values = decodeAll(bytes);
  } catch {
    return undefined;
  }
  const maps = values.filter((value) => typeof value === 'object' && value !== null && !Array.isArray(value));
  if (maps.length === 1) return maps[0] as Record<string, unknown>;
  // Assign one by one: a forged detail may contain more maps than a function call can have arguments.
  const merged: Record<string, unknown> = {};
  for (const map of maps) Object.assign(merged, map);
  return merged;
}

function hasShape(value: unknown, shape: Shape): boolean {
  if (shape === 'text') return typeof value === 'string';
  if (shape === 'true') return value === true;
  if (shape === 'number') return Number.isSafeInteger(value);
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');
}

/**
 * Encodes the outcome of a call as one more map for the detail of its record. Used where the store chose the outcome, such as for an
 * expired call.
 */
export function endingDetail({ kind, executed, error }: Outcome): Uint8Array {
  return encode({ outcome: kind, executed, ...(error === undefined ? {} : { code: error.code }) });
}

const ARGUMENTS_HEAD = Buffer.concat([Buffer.from([0x81, 0xa9]), Buffer.from('arguments'), Buffer.from([0xda])]);

/** Appends one more map, `{ arguments }`, to `fixed`. Encoded by hand for speed: this runs for every call. */
export function withArguments(fixed: Uint8Array, redacted: string): Uint8Array {
  const text = cutBytes(redacted, AUDIT_LIMITS.argumentsBytes);
  const length = Buffer.byteLength(text);
  const at = fixed.length + ARGUMENTS_HEAD.length;
  const bytes = takeBytes(at + 2 + length);
  bytes.set(fixed, 0);
  bytes.set(ARGUMENTS_HEAD, fixed.length);
  bytes[at] = length >>> 8;
  bytes[at + 1] = length & 0xff;
  bytes.write(text, at + 2, length === text.length ? 'latin1' : 'utf8');
  return bytes;
}

/** The text unchanged if it fits into `maxBytes` bytes of UTF-8. Otherwise its beginning, cut between two characters, and `…`. */
function cutBytes(text: string, maxBytes: number): string {
  // A UTF-16 unit takes three bytes of UTF-8 or fewer, so a short text fits without being measured.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const cut = Buffer.from(text).subarray(0, maxBytes - 3);
  return `${cut.toString('utf8').replace(/\uFFFD+$/, '')}…`;
}

export function cutDetail(text: string): string {
  return shorten(text, AUDIT_LIMITS.detailLength);
}
