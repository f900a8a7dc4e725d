import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { invalidParams } from './protocol-problem.ts';
import { META } from './show-outcome.ts';

const MAX_KEY_LENGTH = 255;
const MAX_TOKEN_LENGTH = 256;
const MAX_RUN_LENGTH = 128;
const CONTROL = /\p{Cc}/u;

/** What a client sends about a call in addition to its arguments. */
export interface CallMeta {
  readonly key?: string;
  /** Id of an earlier call. The client wants its outcome instead of a new call. */
  readonly callId?: string;
  readonly run?: string;
  /**
   * True if the client wants a new call. Without it, a client that repeats a call gets the outcome of the earlier one, if that outcome never
   * reached the client.
   */
  readonly fresh?: boolean;
  readonly progressToken?: string | number;
  readonly trace?: string;
  readonly traceState?: string;
}

/** Reads `_meta` and rejects invalid Sallyport fields. An invalid trace is not rejected here; it is dropped later, as everywhere. */
export function readCallMeta(meta: unknown): CallMeta {
  if (meta === undefined) return {};
  if (!isJsonObject(meta)) throw invalidParams('_meta must be an object');
  const progressToken = meta['progressToken'];
  if (progressToken !== undefined && !isToken(progressToken))
    throw invalidParams('_meta.progressToken must be a whole number or a short text');
  const fresh = meta[META.new];
  if (fresh !== undefined && typeof fresh !== 'boolean') throw invalidParams(`_meta.${META.new} must be true or false`);
  const { traceparent, tracestate } = meta;
  return {
    ...given('key', ownText(meta, META.idempotencyKey, MAX_KEY_LENGTH)),
    ...given('callId', ownText(meta, META.callId, MAX_TOKEN_LENGTH)),
    ...given('run', ownText(meta, META.run, MAX_RUN_LENGTH)),
    ...given('fresh', fresh),
    ...given('progressToken', progressToken as string | number | undefined),
    ...given('trace', typeof traceparent === 'string' ? traceparent : undefined),
    ...given('traceState', typeof tracestate === 'string' ? tracestate : undefined),
  };
}

function isToken(token: unknown): boolean {
  return typeof token === 'string' ? token.length <= MAX_TOKEN_LENGTH : Number.isSafeInteger(token);
}

function ownText(meta: JsonObject, name: string, maxLength: number): string | undefined {
  const value = meta[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '' || value.length > maxLength || CONTROL.test(value))
    throw invalidParams(`_meta.${name} must be a text of 1 to ${maxLength} characters`);
  return value;
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value };
}
