import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Effect } from '../../domain/tool/tool.ts';
import { bodyDigest } from '../../domain/tool/digest.ts';
import { shortSignature } from '../../domain/call/history.ts';
import { isTimeSince1970, scrubText } from './scrub-text.ts';
import { signatureOf } from './signature.ts';
import { isLongId } from './stable-text.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';

/** Signatures of a call's arguments, in addition to the signature of the text that the caller sent. */
export interface ArgumentSignatures {
  /** Signature of the arguments that run, without volatile values. Absent if it is the same as the signature of the caller's text. */
  readonly effective?: string;
  /** True if some values are volatile (made anew for each call, like a request id): calls with this signature may differ in them. */
  readonly hasVolatile: boolean;
}

/**
 * Computes the signatures of a call. `args` are the arguments that run. `changed` is their canonical text, if it differs from the caller's.
 * For a tool that may change something, a value that looks random as a whole is kept, because it names the thing that is changed. Otherwise
 * a batch over many things would look like one repeated call, since all its calls may return the same result.
 */
export function argumentSignatures(
  { id, effect = 'read' }: { readonly id: string; readonly effect?: Effect | undefined },
  args: JsonObject,
  changed: string | undefined,
): ArgumentSignatures {
  const scrubbed = new ScrubbedArguments(effect !== 'read');
  scrubbed.addGroup(args, 0);
  if (scrubbed.hasVolatile) return { effective: signatureOf(`${id}\0volatile\0${scrubbed.text}`), hasVolatile: true };
  if (changed === undefined) return UNCHANGED;
  return { effective: shortSignature(bodyDigest(id, changed)), hasVolatile: false };
}

const UNCHANGED: ArgumentSignatures = Object.freeze({ hasVolatile: false });

/** Targets are recorded only after this many calls of a tool in a run, so that most runs have no cost for them. */
const UNREMEMBERED_TARGETS = 10;

/**
 * Signature of the thing that a call may change, made from the members that name it, without the content that is written. Absent for `read`
 * tools and for the first calls of a tool. Also absent if no member names a thing, or if all members do: then there is no content that
 * could differ between two calls.
 */
export function targetSignature(
  { id, effect }: { readonly id: string; readonly effect?: Effect },
  args: JsonObject,
  toolSequence: number,
): string | undefined {
  if (effect === undefined || effect === 'read' || toolSequence <= UNREMEMBERED_TARGETS) return undefined;
  let target = '';
  let hasContents = false;
  for (const name of Object.keys(args).sort()) {
    const value = args[name];
    const kind = kindOf(name);
    if (kind === 'thing' && (typeof value === 'string' || typeof value === 'number')) target += `${name}\0${value}\0`;
    else if (kind !== 'nonce') hasContents = true;
  }
  return target === '' || !hasContents ? undefined : signatureOf(`${id}\0target\0${target}`);
}

const GONE = '\u0001';
/** Minimum length of a volatile text. The shortest one is a time of day, with 8 characters. */
const MIN_LENGTH = 8;
/** Longer texts are content and are compared as they are: scanning costs 15 ns per character. */
const MAX_LENGTH = 2048;
/** Max depth of nesting. The wire format rejects deeper values. */
const MAX_DEPTH = 100;

/** Collects the arguments as one text in which volatile values are replaced. */
class ScrubbedArguments {
  text = '';
  hasVolatile = false;
  readonly #keepsIds: boolean;

  constructor(keepsIds: boolean) {
    this.#keepsIds = keepsIds;
  }

  addGroup(group: JsonObject, depth: number): void {
    this.text += '{';
    for (const name of Object.keys(group).sort()) {
      this.text += `${name}\u0003`;
      this.#add(group[name]!, name, depth + 1);
    }
    this.text += '}';
  }

  #add(value: JsonValue, name: string, depth: number): void {
    if (depth > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      this.text += `[${value.length}:`;
      for (const item of value) this.#add(item, name, depth + 1);
      this.text += ']';
    } else if (typeof value === 'object' && value !== null) {
      this.addGroup(value as JsonObject, depth);
    } else if (typeof value === 'string') {
      this.#replace(value, scrubMember(value, name, this.#keepsIds), '"');
    } else if (typeof value === 'number') {
      this.#replace(`${value}`, isVolatileNumber(value, name, this.#keepsIds) ? GONE : `${value}`, '#');
    } else {
      this.text += `${value}`;
    }
  }

  #replace(value: string, scrubbed: string, quote: string): void {
    if (scrubbed !== value) this.hasVolatile = true;
    this.text += quote + scrubbed + quote;
  }
}

function scrubMember(value: string, name: string, keepsIds: boolean): string {
  const kind = kindOf(name);
  if (kind === 'nonce') return GONE;
  if (value.length < MIN_LENGTH || value.length > MAX_LENGTH) return value;
  if (kind === 'other') {
    const scrubbed = scrubText(value);
    return keepsIds && scrubbed === GONE ? value : scrubbed;
  }
  return value.includes('?') ? value.replaceAll(PARAMETER, scrubParameter) : value;
}

/** In a URL only parameters that are named like a nonce are removed: `?page=…` and `?id=…` say which thing is meant. */
const PARAMETER = /([?&])([^=&#?]{1,64})=[^&#]*/g;

function scrubParameter(whole: string, mark: string, name: string): string {
  return kindOf(name) === 'nonce' ? `${mark}${name}=${GONE}` : whole;
}

function isVolatileNumber(value: number, name: string, keepsIds: boolean): boolean {
  const kind = kindOf(name);
  if (kind !== 'other') return kind === 'nonce';
  return (!keepsIds && isLongId(value)) || (isTimeSince1970(value) && (value > 1e12 || TIME.test(name)));
}

const TIME = /time|stamp|epoch/i;

/**
 * What the name of a member says about its value. `nonce`: made anew for every call, so the value is ignored. `thing`: names what the call
 * is about, so another value means another call, however random it looks (ids, cursors, paths, the ends of a range). `other`: the value
 * decides.
 */
type NameKind = 'nonce' | 'thing' | 'other';

const NONCES: ReadonlySet<string> = new Set(
  (
    'nonce salt rand random requestid reqid xrequestid traceid traceparent tracestate spanid correlationid invocationid ' +
    'idempotencykey clienttoken clientrequesttoken requesttoken pid ppid processid cachebuster cachebust cb timestamp ts now ' +
    'sentat requestedat calledat currenttime clienttime counter iteration attempt attempts attemptnumber retry retrycount'
  ).split(' '),
);
const THINGS: ReadonlySet<string> = new Set(
  (
    'id key cursor token page offset sha hash digest commit revision ref etag path file filename folder directory dir url uri href link ' +
    'name title email address to from since until start end begin before after day date hour month channel chat room thread target ' +
    'destination dest source src parent item record row table branch repo repository project account user subject topic queue bucket ' +
    'object document doc version host port uuid guid ulid'
  ).split(' '),
);

/** Cache for the whole process. The kind of every argument of every call is looked up, and tools use the same few names. */
const kinds = new BoundedCache<string, NameKind>(4096);

function kindOf(name: string): NameKind {
  return kinds.getOrMake(name, readKind);
}

const LAST_WORD = /([A-Z]?[a-z]+|[A-Z]+)[^A-Za-z]*$/;

function readKind(name: string): NameKind {
  if (name === '_' || NONCES.has(name.replaceAll(/[^A-Za-z]/g, '').toLowerCase())) return 'nonce';
  const word = LAST_WORD.exec(name)?.[1]?.toLowerCase() ?? '';
  return THINGS.has(word) || (word.endsWith('s') && THINGS.has(word.slice(0, -1))) ? 'thing' : 'other';
}
