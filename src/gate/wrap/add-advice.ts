import { isJsonObject } from '../../base/json.ts';
import { andThen } from '../../base/maybe-promise.ts';

/** Puts the advice of loop detection where the model reads it. Without advice the result is returned unchanged. */
export type Advise = (result: unknown, advice: string | undefined) => unknown;

/**
 * Adds advice to a result that the model reads as it is: a text, a list of texts or blocks, or an object. Any other result is returned
 * unchanged.
 */
export function addToResult(result: unknown, advice: string): unknown {
  if (typeof result === 'string') return textWithAdvice(result, advice);
  if (Array.isArray(result)) return addToList(result, advice) ?? result;
  if (!isPlain(result)) return result;
  const content = Array.isArray(result['content']) ? addToList(result['content'], advice) : undefined;
  if (content !== undefined) return { ...result, content };
  return Object.hasOwn(result, 'advice') ? result : { ...result, advice };
}

/** Adds advice to a list of texts, or of content blocks as Anthropic and MCP use them. Undefined for other lists. */
function addToList(list: readonly unknown[], advice: string): unknown[] | undefined {
  if (list.length === 0) return undefined;
  if (list.every((one) => typeof one === 'string')) return [...list, advice];
  const areBlocks = list.every((one) => isJsonObject(one) && typeof one['type'] === 'string');
  return areBlocks ? [...list, { type: 'text', text: advice }] : undefined;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export function textWithAdvice(text: string, advice: string): string {
  return `${text}\n\n${advice}`;
}

type ToModelOutput = (this: unknown, options: { readonly output: unknown }) => unknown;

/** Advice for results and errors that must not be changed. Weak: an entry disappears together with its value. */
const advised = new WeakMap<object, string>();

/**
 * Stores the advice for a value without changing the value, and removes older advice. An error is never copied or changed: it may be
 * frozen, have private fields, or be created by the platform, and the code that catches it compares class and identity.
 */
export function storeAdvice(value: unknown, advice: string | undefined): void {
  if (!isReference(value)) return;
  if (advice === undefined) advised.delete(value);
  else advised.set(value, advice);
}

/**
 * The advice of loop detection about the call that threw this error or returned this value. Undefined if there is none, and for a
 * `GateBlocked`, which has the advice in its message and in `advice`.
 */
export function adviceOf(thrownOrReturned: unknown): string | undefined {
  return isReference(thrownOrReturned) ? advised.get(thrownOrReturned) : undefined;
}

function isReference(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** The AI SDK gets the text for the model from a separate function of the tool, so the result itself stays what the program expects. */
export const adviseInModelOutput: Advise = (result, advice) => {
  if (typeof result === 'string') return advice === undefined ? result : textWithAdvice(result, advice);
  storeAdvice(result, advice);
  return result;
};

/** The functions that replace a tool's `toModelOutput`, so that none is replaced twice. Weak: an entry disappears with its function. */
const converters = new WeakSet<object>();

/** Whether a tool is made for the AI SDK: it has the `inputSchema` that the SDK reads, or its own `toModelOutput`. */
export function isForModelOutput(tool: object): boolean {
  const { execute, inputSchema, toModelOutput } = tool as Record<string, unknown>;
  return typeof execute === 'function' && (inputSchema !== undefined || typeof toModelOutput === 'function');
}

/** Returns a function that replaces the tool's `toModelOutput`, or the SDK's default conversion, and adds the advice. */
export function converterFor(tool: object): ToModelOutput {
  const { toModelOutput: own } = tool as { toModelOutput?: ToModelOutput };
  if (own !== undefined && converters.has(own)) return own;
  const convert: ToModelOutput = (options) => {
    const { output } = options;
    const converted = own === undefined ? plainOutput(output) : own.call(tool, options);
    const advice = adviceOf(output);
    return advice === undefined ? converted : andThen(converted, (value) => addToOutput(value, advice));
  };
  converters.add(convert);
  return convert;
}

function plainOutput(output: unknown): unknown {
  return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output ?? null };
}

function addToOutput(converted: unknown, advice: string): unknown {
  const { type, value } = (converted ?? {}) as { type?: unknown; value?: unknown };
  if ((type === 'text' || type === 'error-text') && typeof value === 'string')
    return { ...(converted as object), value: textWithAdvice(value, advice) };
  if (type === 'content' && Array.isArray(value))
    return { ...(converted as object), value: [...(value as unknown[]), { type: 'text', text: advice }] };
  if (type === 'json') return { type: 'text', value: textWithAdvice(JSON.stringify(value), advice) };
  return converted;
}
