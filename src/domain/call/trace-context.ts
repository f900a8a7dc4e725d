/** W3C trace context as it is sent. The field names are those of the headers, so that it can be spread into a request. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** A parsed W3C trace context. */
export interface Trace {
  /** 32 hex digits, never all zero. */
  readonly traceId: string;
  /** 16 hex digits, never all zero. The next span becomes a child of this span. */
  readonly spanId: string;
  readonly flags: number;
  readonly state?: string;
}

/** A traceparent has 55 characters; only versions later than 00 may have more. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
/**
 * The flags `sampled` and, from level 2 of W3C Trace Context, `random`. Other bits have no defined meaning yet, so they are not passed on.
 */
const KNOWN_FLAGS = 0x03;
const SAMPLED = 0x01;

export function isSampled({ flags }: Trace): boolean {
  return (flags & SAMPLED) !== 0;
}

/**
 * Parses a trace context; undefined if the traceparent is invalid. A caller that needs a trace then starts a new one. If only the
 * tracestate is invalid, the trace is returned without it.
 */
export function parseTrace(traceparent: unknown, tracestate?: unknown): Trace | undefined {
  const match = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent) : null;
  if (match === null) return undefined;
  const [, version, traceId, spanId, flags, more] = match as unknown as [
    string,
    string,
    string,
    string,
    string,
    string?,
  ];
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  const state = parseTraceState(tracestate);
  const trace = { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS };
  return state === undefined ? trace : { ...trace, state };
}

/** The trace id as a field for a log line; empty if there is no valid trace. */
export function traceIdIn(traceparent: string | undefined): { readonly traceId?: string } {
  const trace = traceparent === undefined ? undefined : parseTrace(traceparent);
  return trace === undefined ? {} : { traceId: trace.traceId };
}

/**
 * Writes a trace as version 00, whatever version it was read from. The result is frozen, because it is passed to code of tool authors and
 * operators.
 */
export function toTraceContext({ traceId, spanId, flags, state }: Trace): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
  return Object.freeze(state === undefined ? { traceparent } : { traceparent, tracestate: state });
}

/**
 * One member of a tracestate. The key has the form of level 2 of W3C Trace Context, which includes all keys of level 1. A value contains
 * neither `=` nor `,` and does not end with a space.
 */
const MEMBER = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const MAX_MEMBERS = 32;
const MAX_CHARACTERS = 512;
const LONG_MEMBER = 128;
/** A tracestate that is longer than this is dropped without being parsed: no caller needs to pass on so much. */
const UNREASONABLE = 8192;

function parseTraceState(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > UNREASONABLE) return undefined;
  const members = text
    .split(',')
    .map((member) => member.replaceAll(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '');
  const keys = new Set(members.map((member) => member.split('=', 1)[0]));
  const isValid = members.length <= MAX_MEMBERS && keys.size === members.length && members.every(isMember);
  return isValid && members.length > 0 ? shorten(members).join(',') || undefined : undefined;
}

const isMember = (member: string): boolean => MEMBER.test(member);

/** Shortens a tracestate as the W3C recommendation describes: whole members only, the long ones first, then from the end. */
function shorten(members: string[]): string[] {
  const length = (some: readonly string[]): number => some.join(',').length;
  if (length(members) <= MAX_CHARACTERS) return members;
  const kept = members.filter((member) => member.length <= LONG_MEMBER);
  while (length(kept) > MAX_CHARACTERS) kept.pop();
  return kept;
}
