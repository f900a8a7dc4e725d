import type { EffectLimits, EffectOrigin } from './platform-effect.ts';

/**
 * Where a tool may send in addition to its session's own channel: nowhere else, anywhere, or to the channels in this list. `team-*` means
 * every channel whose name starts with `team-`.
 */
export type AllowedChannels = 'session' | 'any' | readonly string[];

/** What a worker knows of a platform: that it exists, and where tools may send on it. */
export interface KnownPlatform {
  readonly channels: AllowedChannels;
  /** A message that could not be delivered within this time has failed. */
  readonly deliverWithinMs: number;
}

export interface PlatformSettings extends EffectLimits {
  readonly platforms: Readonly<Record<string, KnownPlatform>>;
  /** Max bytes that may wait in one lane of the store. */
  readonly maxQueuedBytes: number;
}

export const DEFAULT_EFFECT_LIMITS = Object.freeze({
  effectsPerCall: 100,
  bytesPerCall: 8 * 1024 * 1024,
  maxQueuedBytes: 64 * 1024 * 1024,
});

/**
 * Whether a tool may send to this channel. The worker checks it so that the tool gets the error. The gateway's side checks it again because
 * it holds the credentials.
 */
export function maySendTo(
  target: { platform: string; channel: string },
  origin: EffectOrigin,
  channels: AllowedChannels,
): boolean {
  if (target.platform === origin.homePlatform && target.channel === origin.homeChannel) return true;
  if (channels === 'session') return false;
  if (channels === 'any') return true;
  return channels.some((allowed) =>
    allowed.endsWith('*') ? target.channel.startsWith(allowed.slice(0, -1)) : target.channel === allowed,
  );
}
