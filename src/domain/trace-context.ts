/** W3C trace context as it travels: the names are those of the headers, so that it can be spread into a request. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** The same, taken apart. */
export interface Trace {
  /** 32 hex digits, never all zero. */
  readonly traceId: string;
  /** 16 hex digits, never all zero: the span that what comes next is a part of. */
  readonly spanId: string;
  readonly flags: number;
  readonly state?: string;
}

/** 55 characters; only later versions may go on after them. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
/** `sampled`, and `random` of level 2. What other bits mean nobody knows yet, so they are not passed on. */
const KNOWN_FLAGS = 0x03;
const SAMPLED = 0x01;

export function isSampled({ flags }: Trace): boolean {
  return (flags & SAMPLED) !== 0;
}

/** Undefined for what is no trace; whoever needs one then starts anew. A bad tracestate is dropped alone. */
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

/** For a line of the log; nothing where there is none. */
export function traceIdIn(traceparent: string | undefined): { readonly traceId?: string } {
  const trace = traceparent === undefined ? undefined : parseTrace(traceparent);
  return trace === undefined ? {} : { traceId: trace.traceId };
}

/** Written as version 00, whatever it was read from. Frozen: it is handed to code that is not ours. */
export function toTraceContext({ traceId, spanId, flags, state }: Trace): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
  return Object.freeze(state === undefined ? { traceparent } : { traceparent, tracestate: state });
}

/** The key of level 2, which the one of level 1 is a part of; `=` and `,` are in no value, and no value ends with a space. */
const MEMBER = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const MOST_MEMBERS = 32;
const MOST_CHARACTERS = 512;
const LONG_MEMBER = 128;
/** More than anybody has to pass on; not even looked at. */
const UNREASONABLE = 8192;

function parseTraceState(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > UNREASONABLE) return undefined;
  const members = text
    .split(',')
    .map((member) => member.replaceAll(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '');
  const keys = new Set(members.map((member) => member.split('=', 1)[0]));
  const isValid = members.length <= MOST_MEMBERS && keys.size === members.length && members.every(isMember);
  return isValid && members.length > 0 ? shorten(members).join(',') || undefined : undefined;
}

const isMember = (member: string): boolean => MEMBER.test(member);

/** As the recommendation says: whole members only, the long ones first, then from the end. */
function shorten(members: string[]): string[] {
  const length = (some: readonly string[]): number => some.join(',').length;
  if (length(members) <= MOST_CHARACTERS) return members;
  const kept = members.filter((member) => member.length <= LONG_MEMBER);
  while (length(kept) > MOST_CHARACTERS) kept.pop();
  return kept;
}
