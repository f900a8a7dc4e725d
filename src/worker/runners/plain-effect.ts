import { hasLoneSurrogate } from '../../base/well-formed.ts';
import { isJsonObject } from '../../base/json.ts';
import { EFFECT_NAME_PATTERN, type PlatformMessage } from '../../domain/platform/platform-effect.ts';
import type { PlatformRequest } from '../../domain/ports/tool-runner.ts';
import { makePlain, NotPlain, type SizeBudget } from './make-plain.ts';
import { plainFile, plainMessage } from './plain-blocks.ts';

const MAX_TEXT = 64 * 1024;
const MAX_NAME = 256;
const OPERATION = /^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$/;
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Reads an effect whose shape is not known. Throws NotPlain or TooLarge. */
export function plainEffect(body: unknown, budget: SizeBudget): PlatformRequest['body'] {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const { kind } = fields;
  switch (kind) {
    case 'send': {
      const message = plainContent(fields['message'], budget);
      const replyTo = fields['replyTo'];
      return replyTo === undefined ? { kind, message } : { kind, message, replyTo: name(replyTo, 'replyTo') };
    }
    case 'edit':
      return {
        kind,
        messageId: name(fields['messageId'], 'messageId'),
        message: plainContent(fields['message'], budget),
      };
    case 'react':
      return {
        kind,
        messageId: name(fields['messageId'], 'messageId'),
        reaction: name(fields['reaction'], 'reaction'),
      };
    case 'file': {
      const file = plainFile(fields['file'], budget, 'file');
      return fields['text'] === undefined ? { kind, file } : { kind, file, text: text(fields['text'], 'text', budget) };
    }
    case 'call': {
      const { operation } = fields;
      if (typeof operation !== 'string' || !OPERATION.test(operation)) throw new NotPlain('the operation is no name');
      const args = makePlain(fields['arguments'] ?? {}, budget, 'arguments');
      if (!isJsonObject(args)) throw new NotPlain('the arguments are not an object');
      return { kind, operation, arguments: args };
    }
    default:
      throw new NotPlain('there is no such effect');
  }
}

export function plainEffectOptions(options: Record<string, unknown>): Omit<PlatformRequest, 'body'> {
  const { platform, channel, key, waitMs } = options;
  if (key !== undefined && (typeof key !== 'string' || !EFFECT_NAME_PATTERN.test(key))) {
    throw new NotPlain('the key must have 1 to 64 letters, digits or _ . : -');
  }
  if (waitMs !== undefined && !(typeof waitMs === 'number' && waitMs >= 0)) {
    throw new NotPlain('waitMs and deadlineMs must be numbers of milliseconds');
  }
  return {
    ...(platform === undefined ? {} : { platform: name(platform, 'platform') }),
    ...(channel === undefined ? {} : { channel: name(channel, 'channel') }),
    ...(key === undefined ? {} : { key }),
    ...(waitMs === undefined ? {} : { waitMs }),
  };
}

function plainContent(message: unknown, budget: SizeBudget): PlatformMessage {
  const fields = (typeof message === 'object' && message !== null ? message : {}) as Record<string, unknown>;
  const shown = text(fields['text'], 'the text', budget);
  return fields['rich'] === undefined
    ? { text: shown }
    : { text: shown, rich: plainMessage(fields['rich'], budget, 'rich') };
}

function text(value: unknown, what: string, budget: SizeBudget): string {
  if (typeof value !== 'string' || value === '') throw new NotPlain(`${what} must be a text, and not an empty one`);
  if (value.length > MAX_TEXT) throw new NotPlain(`${what} has ${value.length} characters; the limit is ${MAX_TEXT}`);
  if (hasLoneSurrogate(value)) throw new NotPlain(`${what} contains half a surrogate pair`);
  budget.take(Buffer.byteLength(value));
  return value;
}

/** Ids of messages, channels and platforms, and reactions: short texts on one line. */
function name(value: unknown, what: string): string {
  const isName = typeof value === 'string' && value !== '' && value.length <= MAX_NAME && !CONTROL.test(value);
  if (!isName || hasLoneSurrogate(value)) throw new NotPlain(`${what} must be a short text on one line`);
  return value;
}
