import { createHash } from 'node:crypto';
import { AUDIT_EVENTS, DEPLOYMENT_EVENTS, DEPLOYMENT_LANE, type AuditEvent } from '../../domain/audit/audit-record.ts';
import type { JournalElement, JournalEntry } from '../../domain/ports/audit-store.ts';
import { indexText } from '../../domain/audit/record-index.ts';
import { readAbout, type About } from './about-codec.ts';
import { asBytes, asList, asNumber, asText } from './answers.ts';

/** Larger than any record. Larger elements are not decoded. */
export const MAX_ELEMENT_BYTES = 16 * 1024 * 1024;
/** Enough for sealed arguments of 1 MiB and what is written next to them. */
const MAX_DETAIL_BYTES = 2 * 1024 * 1024;
/** An element larger than this is identified by a digest of its first bytes only, as in `shared/journal.lua`. */
const LARGE_BYTES = 1024 * 1024;

/** Max bytes of an indexed text. An index of PostgreSQL takes 2,704 bytes for a row, and tenant and subject share one. */
const MAX_TEXT_BYTES = 1200;

const MARK = 'J1';
const EVENTS: ReadonlySet<string> = new Set(AUDIT_EVENTS);
const DEPLOYMENT: ReadonlySet<string> = new Set(DEPLOYMENT_EVENTS);

/** Reads an element as `read_journal` returns it: its bytes, or length and digest of an element that is too large. */
export function readElement(lane: number, answer: unknown): JournalElement {
  if (Array.isArray(answer)) {
    const [length, digest] = asList(answer);
    return { bytes: asNumber(length), digest: asText(digest) };
  }
  const bytes = asBytes(answer);
  const entry = decodeElement(lane, bytes);
  return { bytes: bytes.length, digest: digestOf(bytes), ...(entry === undefined ? {} : { entry }) };
}

function digestOf(bytes: Buffer): string {
  return createHash('sha1').update(bytes.subarray(0, LARGE_BYTES)).digest('hex');
}

/** Returns undefined for bytes that no function of the store has written. Attack: any role that audits can append to the journal. */
function decodeElement(lane: number, bytes: Buffer): JournalEntry | undefined {
  try {
    if (bytes.toString('latin1', 0, 2) !== MARK) return undefined;
    let at = 18;
    const next = (lengthBytes: 1 | 4): Buffer => {
      const start = at + lengthBytes;
      at = start + bytes.readUIntLE(at, lengthBytes);
      if (at > bytes.length) throw new RangeError('the element ends too early');
      return bytes.subarray(start, at);
    };
    const [time, counted] = [bytes.readDoubleLE(2), bytes.readDoubleLE(10)];
    const [callId, event, record] = [next(4).toString('utf8'), next(1).toString('latin1'), next(4)];
    const detail = bytes.subarray(at);
    if (!isCount(counted) || !isTime(time) || !EVENTS.has(event) || detail.length > MAX_DETAIL_BYTES) return undefined;
    if (DEPLOYMENT.has(event) !== (lane === DEPLOYMENT_LANE)) return undefined;
    const about = readAbout(event as AuditEvent, callId, record);
    if (!hasPlace(about)) return undefined;
    return { lane, counted, at: time, event: event as AuditEvent, ...about, detail };
  } catch {
    // A length that points past the end, a record of another shape, or facts that are not JSON: no function of the store wrote this element.
    return undefined;
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
/** Times that a `Date` can represent. */
const isTime = (value: number): boolean => isCount(value) && value <= 8.64e15;

/** Identity of an administrative record that is about no subject. */
const NOT_NAMED: Record<string, unknown> = { tenant: '', subject: '', agent: '' };

/**
 * Checks that a sink can store the record. The sink keeps these texts in indexed columns. One record that it cannot keep, or whose identity
 * is nested too deep, would block all records behind it. Therefore all parts must be texts, a list of texts, or `true`.
 */
function hasPlace({ callId, tool, session, run, identity }: About): boolean {
  const who = identity === undefined ? NOT_NAMED : (JSON.parse(identity) as Record<string, unknown> | null);
  if (typeof who !== 'object' || who === null) return false;
  const { tenant, subject, agent, channel = '', space = '', platform = '', delegators = [], unattended = true } = who;
  if (!Array.isArray(delegators) || unattended !== true) return false;
  const named = [callId ?? '', tool ?? '', session ?? '', run ?? '', tenant, subject, agent];
  return [...named, channel, space, platform, ...delegators].every(hasRoom);
}

function hasRoom(text: unknown): boolean {
  return typeof text === 'string' && Buffer.byteLength(indexText(text)) <= MAX_TEXT_BYTES;
}
