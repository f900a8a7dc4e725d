import type { CallId } from '../../domain/identity/ids.ts';
import {
  parseEffectKey,
  type EffectKey,
  type EffectKind,
  type EffectOrigin,
  type EffectRecord,
  type EffectState,
} from '../../domain/platform/platform-effect.ts';
import type { ListEffectsRequest } from '../../domain/ports/outbound-store.ts';
import { asBytes, asList, asNumber, asText } from './answers.ts';
import type { RedisContext } from './redis-context.ts';

/** The same fields as `outbound.FIELDS` in `shared/outbound.lua`. */
const FIELDS = [
  'call',
  'kind',
  'platform',
  'channel',
  'origin',
  'state',
  'attempts',
  'attemptsBefore',
  'publishedAt',
  'dueAt',
  'expiresAt',
  'endedAt',
  'bytes',
  'body',
  'answer',
  'problem',
] as const;
const PAGE = 200;

export function decodeEffect(key: EffectKey, values: readonly unknown[]): EffectRecord | undefined {
  const field = (name: (typeof FIELDS)[number]): unknown => values[FIELDS.indexOf(name)];
  if (field('state') === null) return undefined;
  const [endedAt, body, answer, problem] = [field('endedAt'), field('body'), field('answer'), field('problem')];
  return {
    key,
    callId: asText(field('call')) as CallId,
    kind: asText(field('kind')) as EffectKind,
    platform: asText(field('platform')),
    channel: asText(field('channel')),
    origin: JSON.parse(asText(field('origin'))) as EffectOrigin,
    state: asText(field('state')) as EffectState,
    attempts: asNumber(field('attempts')),
    attemptsBefore: asNumber(field('attemptsBefore')),
    publishedAt: asNumber(field('publishedAt')),
    dueAt: asNumber(field('dueAt')),
    expiresAt: asNumber(field('expiresAt')),
    ...(endedAt === null ? {} : { endedAt: asNumber(endedAt) }),
    bytes: asNumber(field('bytes')),
    ...(body === null ? {} : { body: asBytes(body) }),
    ...(answer === null || asBytes(answer).length === 0 ? {} : { answer: asBytes(answer) }),
    ...(problem === null ? {} : { problem: asText(problem) }),
  };
}

export async function readEffect(context: RedisContext, key: EffectKey): Promise<EffectRecord | undefined> {
  const place = parseEffectKey(key);
  if (place === undefined || place.lane >= context.lanes) return undefined;
  const found = await context.commandForBytes('HMGET', context.lane(place.lane).effect(key), ...FIELDS);
  return decodeEffect(key, asList(found));
}

export async function listEffects(context: RedisContext, request: ListEffectsRequest): Promise<EffectRecord[]> {
  const lanes = Array.from({ length: context.lanes }, (_, lane) => listLane(context, lane, request));
  const found = (await Promise.all(lanes)).flat();
  return found.sort((a, b) => b.publishedAt - a.publishedAt).slice(0, request.limit);
}

async function listLane(context: RedisContext, lane: number, request: ListEffectsRequest): Promise<EffectRecord[]> {
  const found: EffectRecord[] = [];
  for (let from = 0; found.length < request.limit; from += PAGE) {
    const page = await context.command('ZREVRANGE', context.lane(lane).effects, String(from), String(from + PAGE - 1));
    const keys = asList(page).map((key) => asText(key) as EffectKey);
    const read = await Promise.all(keys.map((key) => readEffect(context, key)));
    found.push(...read.filter((effect) => effect !== undefined && isWanted(effect, request)).map((effect) => effect!));
    if (keys.length < PAGE) break;
  }
  return found;
}

function isWanted(effect: EffectRecord, { platform, channel, state }: ListEffectsRequest): boolean {
  return (
    (platform === undefined || effect.platform === platform) &&
    (channel === undefined || effect.channel === channel) &&
    (state === undefined || effect.state === state)
  );
}
