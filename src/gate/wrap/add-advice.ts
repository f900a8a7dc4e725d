import { isJsonObject } from '../../domain/json.ts';
import { whenHere } from '../when-here.ts';

/** Puts what loop detection advises where the model will read it; without advice the result is its own. */
export type Advise = (result: unknown, advice: string | undefined) => unknown;

/** For results that the model reads as they are. What is neither text, nor a list of texts or blocks, nor an object stays as it is. */
export function addToResult(result: unknown, advice: string): unknown {
  if (typeof result === 'string') return textWithAdvice(result, advice);
  if (Array.isArray(result)) return addToList(result, advice) ?? result;
  if (!isPlain(result)) return result;
  const content = Array.isArray(result['content']) ? addToList(result['content'], advice) : undefined;
  if (content !== undefined) return { ...result, content };
  return Object.hasOwn(result, 'advice') ? result : { ...result, advice };
}

/** Content blocks of Anthropic and MCP, or texts. */
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

/** Results and errors that stay what the tool gave, with the advice that belongs to them. Weak: dropping the value drops its entry. */
const advised = new WeakMap<object, string>();

/**
 * Keeps the advice beside a value and takes an older one away. An error is never copied or changed: it may be frozen, have private fields,
 * or be one that the platform made, and its catcher compares class and identity.
 */
export function adviseBeside(value: unknown, advice: string | undefined): void {
  if (!isReference(value)) return;
  if (advice === undefined) advised.delete(value);
  else advised.set(value, advice);
}

/**
 * The advice of loop detection about the call that threw this error or returned this value. Undefined where there is none, and for a
 * `GateBlocked`: that has it in its message and its `advice`.
 */
export function adviceOf(thrownOrReturned: unknown): string | undefined {
  return isReference(thrownOrReturned) ? advised.get(thrownOrReturned) : undefined;
}

function isReference(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** The AI SDK asks for what the model reads, so the result itself can stay what the program expects. */
export const adviseInModelOutput: Advise = (result, advice) => {
  if (typeof result === 'string') return advice === undefined ? result : textWithAdvice(result, advice);
  adviseBeside(result, advice);
  return result;
};

const converters = new WeakSet<object>();

/** A tool that is made for the AI SDK: it has what the SDK reads a schema from, or says itself what the model reads. */
export function isForModelOutput(tool: object): boolean {
  const { execute, inputSchema, toModelOutput } = tool as Record<string, unknown>;
  return typeof execute === 'function' && (inputSchema !== undefined || typeof toModelOutput === 'function');
}

/** In the place of `toModelOutput`, or of what the SDK does without one. */
export function converterFor(tool: object): ToModelOutput {
  const { toModelOutput: own } = tool as { toModelOutput?: ToModelOutput };
  if (own !== undefined && converters.has(own)) return own;
  const convert: ToModelOutput = (options) => {
    const { output } = options;
    const converted = own === undefined ? plainOutput(output) : own.call(tool, options);
    const advice = adviceOf(output);
    return advice === undefined ? converted : whenHere(converted, (value) => addToOutput(value, advice));
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
