import { basename } from 'node:path';
import type {
  EffectOptions,
  PlatformProxy,
  RawOptions,
  SentEffect,
  SentFile,
} from '../../modules/authoring/tool-context.ts';
import { ToolFailure } from '../../modules/authoring/tool-failure.ts';
import type { JsonValue } from '../../base/json.ts';
import type { EffectBody } from '../../domain/platform/platform-effect.ts';
import { platformRefusal } from '../../domain/errors/gate-errors.ts';
import type { PlatformReply, PlatformRequest } from '../../domain/ports/tool-runner.ts';
import { plainEffect, plainEffectOptions } from './plain-effect.ts';
import { NotPlain, SizeBudget, TooLarge } from './make-plain.ts';
import { readRegularFile } from './read-regular-file.ts';

type Refused = Extract<PlatformReply, { kind: 'refused' }>;

export const NO_PLATFORM: Refused = platformRefusal('PLATFORM_NONE', { missing: 'platform' });

interface PlatformHost {
  throwIfAborted(): void;
  onPlatform?(request: PlatformRequest): Promise<PlatformReply>;
}

/** The `platform` object of one call. What a tool sends after its call has ended is rejected. */
export function openPlatform(host: PlatformHost, maxBytes: number, mustBeOpen: () => void): PlatformProxy {
  async function perform(body: unknown, options: unknown): Promise<Exclude<PlatformReply, Refused>> {
    mustBeOpen();
    host.throwIfAborted();
    const request = platformRequest({ ...(options as object | undefined), body }, maxBytes);
    const reply = await (host.onPlatform?.(request) ?? NO_PLATFORM);
    if (reply.kind === 'refused') throw new ToolFailure(reply.message, { code: reply.code });
    return reply;
  }

  /** A tool may send without waiting for the result. A refusal then has no handler, and must not end the process as an unhandled rejection. */
  function handled<Result>(sending: Promise<Result>): Promise<Result> {
    sending.catch(() => undefined);
    return sending;
  }

  async function send(body: unknown, options: EffectOptions | undefined): Promise<SentEffect> {
    const reply = await perform(body, options);
    const { kind: state, key } = reply;
    const messageId = reply.kind === 'delivered' ? reply.answer.messageId : undefined;
    return { state, key, ...(messageId === undefined ? {} : { messageId }) };
  }

  async function operate(operation: unknown, args: unknown, options: RawOptions): Promise<JsonValue> {
    const { deadlineMs, ...rest } = options;
    const reply = await perform({ kind: 'call', operation, arguments: args }, { ...rest, waitMs: deadlineMs });
    // A raw operation that gets no answer in time is refused as timed out, so its reply is never `queued`.
    return reply.kind === 'delivered' ? (reply.answer.value ?? null) : null;
  }

  async function sendFile(file: SentFile, options: { text?: string } & EffectOptions = {}): Promise<SentEffect> {
    return send({ kind: 'file', file: asFile(file, maxBytes), text: options.text }, options);
  }

  return Object.freeze({
    send: (message, options) =>
      handled(send({ kind: 'send', message: asMessage(message), replyTo: options?.replyTo }, options)),
    edit: (messageId, message, options) =>
      handled(send({ kind: 'edit', messageId, message: asMessage(message) }, options)),
    react: (messageId, reaction, options) => handled(send({ kind: 'react', messageId, reaction }, options)),
    sendFile: (file, options) => handled(sendFile(file, options)),
    call: (operation, args = {}, options = {}) => handled(operate(operation, args, options)),
  } satisfies PlatformProxy);
}

function asMessage(message: unknown): unknown {
  return typeof message === 'string' ? { text: message } : message;
}

function asFile(file: SentFile, maxBytes: number): object {
  if (!('path' in file)) return { mediaType: 'application/octet-stream', ...file };
  const { path, name = basename(path), mediaType = 'application/octet-stream' } = file;
  return { name, mediaType, bytes: readRegularFile(path, maxBytes) };
}

/**
 * Reads a request that tool code made or a tool's process sent. Throws ToolFailure if it is too large, TypeError for mistakes of the tool
 * author.
 */
export function platformRequest(asked: unknown, maxBytes: number): PlatformRequest {
  const { body, ...options } = (asked ?? {}) as Record<string, unknown>;
  try {
    const plain: PlatformRequest['body'] = plainEffect(body, new SizeBudget(maxBytes)) satisfies EffectBody;
    return { body: plain, ...plainEffectOptions(options) };
  } catch (error) {
    if (error instanceof TooLarge) {
      const { message, code } = platformRefusal('EFFECT_TOO_LARGE', { problem: error.message });
      throw new ToolFailure(message, { code, cause: error });
    }
    if (error instanceof NotPlain) throw new TypeError(`ctx.platform: ${error.message}`, { cause: error });
    throw error;
  }
}

export function refusalOf(error: unknown): Refused {
  if (error instanceof ToolFailure)
    return { kind: 'refused', code: error.code ?? 'EFFECT_INVALID', message: error.message };
  return platformRefusal('EFFECT_INVALID', { problem: error instanceof Error ? error.message : 'it is nothing known' });
}
