import type { EffectBody, EffectKey, EffectRecord } from '../../../domain/platform/platform-effect.ts';
import { parseEffectKey } from '../../../domain/platform/platform-effect.ts';
import type { JsonValue } from '../../../base/json.ts';
import type { EffectList, EffectReader } from '../../../domain/ports/outbound-store.ts';
import type { AdapterEffect, DeliveryResult, PlatformAdapter } from '../../../domain/ports/platform-adapter.ts';
import { decode } from '../../../base/message-pack.ts';

type Needs = EffectReader & EffectList;

const MAX_LISTED = 100;

/** Keeps messages in the store, where operators read them with `sallyport messages list`. A message's id is the key of its effect. */
export function createConsoleAdapter(platform: string, store: Needs): PlatformAdapter {
  async function deliver({ key, channel, body }: AdapterEffect): Promise<DeliveryResult> {
    if (body.kind === 'send' || body.kind === 'file') return { kind: 'delivered', messageId: key };
    const found = await findMessage(body.messageId);
    if (found === undefined || found.channel !== channel) {
      return { kind: 'refused', problem: 'there is no such message in this channel' };
    }
    return { kind: 'delivered', messageId: found.key };
  }

  async function findMessage(id: string): Promise<EffectRecord | undefined> {
    const found = parseEffectKey(id) === undefined ? undefined : await store.readEffect(id as EffectKey);
    return found !== undefined && found.platform === platform && isMessage(found) ? found : undefined;
  }

  return {
    deduplicates: true,
    keepsMessages: true,
    deliver,
    async call({ operation, channel, arguments: args }) {
      if (operation !== 'messages') return { kind: 'refused', problem: 'its only operation is "messages"' };
      const limit = args['limit'] ?? MAX_LISTED;
      if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > MAX_LISTED) {
        return { kind: 'refused', problem: `limit must be a whole number from 1 to ${MAX_LISTED}` };
      }
      const found = await store.listEffects({ platform, channel, state: 'delivered', limit: MAX_LISTED });
      const value: JsonValue[] = found
        .filter(isMessage)
        .slice(0, limit as number)
        .map(toEntry);
      return { kind: 'answered', value };
    },
  };
}

function isMessage({ kind, state }: EffectRecord): boolean {
  return state === 'delivered' && (kind === 'send' || kind === 'file' || kind === 'result');
}

function toEntry({ key, publishedAt, body }: EffectRecord): JsonValue {
  const decoded = body === undefined ? undefined : (decode(body) as EffectBody);
  const text =
    decoded?.kind === 'send' ? decoded.message.text : decoded?.kind === 'file' ? decoded.file.name : undefined;
  return { messageId: key, at: publishedAt, ...(text === undefined ? {} : { text }) };
}
