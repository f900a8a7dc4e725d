import type { Identity } from '../domain/session.ts';
import type { Delivery } from './call-store.ts';
import type { PlatformReply, PlatformRequest } from './tool-runner.ts';

/** What one run does on platforms. */
export interface CallEffects {
  /** Never rejects. Effects are numbered, and published, in the order of these calls. `signal` ends the waiting, not the effect. */
  perform(request: PlatformRequest, signal: AbortSignal): Promise<PlatformReply>;
  /** Resolves when all that was asked for is published or refused: a call is not settled before. */
  published(): Promise<void>;
}

export interface EffectSource {
  open(call: { readonly delivery: Delivery; readonly identity: Identity; readonly timeoutMs: number }): CallEffects;
}
