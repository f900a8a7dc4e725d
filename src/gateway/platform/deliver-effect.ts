import { startOf } from '../../base/cut-text.ts';
import { decode, encode } from '../../base/message-pack.ts';
import type { ContentBlock } from '../../domain/outcome/content.ts';
import { decodeOutcome } from '../../domain/outcome/outcome-bytes.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { EffectAnswer, EffectBody, EffectRecord } from '../../domain/platform/platform-effect.ts';
import { maySendTo, type AllowedChannels } from '../../domain/platform/platform-settings.ts';
import type { EffectEnding } from '../../domain/ports/outbound-store.ts';
import type { DeliveryResult, OperationResult, PlatformAdapter } from '../../domain/ports/platform-adapter.ts';
import type { CallReader } from '../../domain/ports/call-store.ts';

export interface ServedPlatform {
  readonly adapter: PlatformAdapter;
  readonly channels: AllowedChannels;
  /** Max attempts for one effect; after that it has failed. */
  readonly attempts: number;
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Makes one attempt. Never rejects: whatever the adapter does, the attempt has exactly one ending. */
export async function deliverEffect(
  effect: EffectRecord,
  { adapter, channels, attempts }: ServedPlatform,
  store: CallReader,
  signal: AbortSignal,
): Promise<EffectEnding> {
  // The worker has checked this, too. Checked again here, because this process has the credentials of the platform.
  if (!maySendTo(effect, effect.origin, channels)) return failed('the operator does not allow this channel');
  const body = await bodyOf(effect, store).catch(() => undefined);
  if (body === undefined) return failed('its content is no longer there');
  try {
    const attempt = body.kind === 'call' ? operate(effect, body, adapter, signal) : hand(effect, body, adapter, signal);
    const result = await unlessAborted<DeliveryResult | OperationResult>(attempt, signal);
    if (result.kind === 'again') return again(effect, result, attempts);
    if (result.kind === 'refused') return failed(result.problem);
    const answer: EffectAnswer =
      result.kind === 'answered'
        ? { value: result.value }
        : result.messageId === undefined
          ? {}
          : { messageId: result.messageId };
    const encoded = encode(answer);
    if (encoded.byteLength > MAX_ANSWER_BYTES) return failed('it was done, but its answer is too large');
    return { kind: 'delivered', answer: encoded, keep: adapter.keepsMessages === true };
  } catch (error) {
    const problem = `the adapter failed: ${error instanceof Error ? error.name : 'unknown'}`;
    // The effect may have been delivered, so it is retried only if a second delivery changes nothing.
    if (effect.kind === 'call' || !adapter.deduplicates) return failed(`${problem}; it may have been delivered`);
    return again(effect, { problem }, attempts);
  }
}

type Deliverable = Exclude<EffectBody, { readonly kind: 'result' }>;

/** The content to deliver. For a redirected call it is the call's outcome from the store, as text. */
async function bodyOf(effect: EffectRecord, store: CallReader): Promise<Deliverable | undefined> {
  const body = effect.body === undefined ? undefined : (decode(effect.body) as EffectBody);
  if (body?.kind !== 'result') return body;
  const call = await store.readCall(effect.callId);
  if (call?.outcome === undefined) return undefined;
  return { kind: 'send', message: { text: channelText(call.tool, decodeOutcome(call.outcome)) } };
}

function hand(
  { key, channel, origin, attempts: attempt }: EffectRecord,
  body: Exclude<Deliverable, { readonly kind: 'call' }>,
  adapter: PlatformAdapter,
  signal: AbortSignal,
): Promise<DeliveryResult> {
  return adapter.deliver({ key, channel, origin, body, attempt }, signal);
}

async function operate(
  { key, channel, origin }: EffectRecord,
  { operation, arguments: args }: Extract<Deliverable, { kind: 'call' }>,
  adapter: PlatformAdapter,
  signal: AbortSignal,
): Promise<OperationResult> {
  if (adapter.call === undefined) return { kind: 'refused', problem: 'this platform has no raw operations' };
  return adapter.call({ key, channel, origin, operation, arguments: args }, signal);
}

function again(
  effect: EffectRecord,
  { problem, afterMs = 0 }: { readonly problem: string; readonly afterMs?: number },
  maxEffects: number,
): EffectEnding {
  const tries = effect.attempts - effect.attemptsBefore;
  if (tries >= maxEffects) return failed(`${problem}; given up after ${tries} attempts`);
  const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1)) * (0.5 + Math.random() / 2);
  return { kind: 'retry', problem, afterMs: Math.max(afterMs, pauseMs) };
}

function failed(problem: string): EffectEnding {
  return { kind: 'failed', problem };
}

/** An adapter that ignores its signal must not occupy a slot forever. */
function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

const MAX_CHARACTERS = 16_000;

/** The text that people read when an outcome was redirected to a channel. */
function channelText(tool: string, outcome: Outcome): string {
  const parts = outcome.content.map(textOf).filter((text) => text !== '');
  if (parts.length === 0 && outcome.structured !== undefined) parts.push(JSON.stringify(outcome.structured));
  if (outcome.advice !== undefined) parts.push(outcome.advice);
  const files = outcome.writeBacks?.files ?? [];
  if (files.length > 0) parts.push(`Files: ${files.map(({ name }) => name).join(', ')}`);
  const head = outcome.kind === 'ok' ? `${tool} has finished.` : `${tool} ended: ${outcome.kind}.`;
  return cut([head, ...parts].join('\n'));
}

function textOf(block: ContentBlock): string {
  switch (block.kind) {
    case 'text':
      return block.text;
    case 'structured':
      return JSON.stringify(block.value);
    case 'resource':
      return 'text' in block ? block.text : `[resource ${block.uri}]`;
    case 'file':
      return `[file ${block.name}]`;
    default:
      return `[${block.kind}]`;
  }
}

function cut(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${startOf(text, MAX_CHARACTERS)}…`;
}
