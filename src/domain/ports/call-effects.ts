import type { Identity } from '../identity/session.ts';
import type { Delivery } from './call-requests.ts';
import type { PlatformReply, PlatformRequest } from './tool-runner.ts';

/** What one run of a tool does on platforms. */
export interface CallEffects {
  /**
   * Publishes one effect and waits for its delivery. Never rejects. Effects are numbered and published in the order of these calls.
   * Aborting `signal` ends the wait; the effect is still delivered.
   */
  perform(request: PlatformRequest, signal: AbortSignal): Promise<PlatformReply>;
  /** Resolves when every requested effect is published or refused. A call is not settled before that. */
  published(): Promise<void>;
}

export interface EffectSource {
  open(call: { readonly delivery: Delivery; readonly identity: Identity; readonly timeoutMs: number }): CallEffects;
}
