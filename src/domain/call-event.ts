import type { JsonValue } from './json.ts';

export type NoticeLevel = 'debug' | 'info' | 'warn' | 'error';

/** What a caller can hear about its call on the way. Best effort; the outcome is what counts. */
export type CallEvent =
  | { readonly kind: 'queued'; readonly callId: string }
  | { readonly kind: 'started' }
  | { readonly kind: 'progress'; readonly done?: number; readonly total?: number; readonly message?: string }
  /** What the tool tells its caller while it runs. */
  | { readonly kind: 'logged'; readonly level: NoticeLevel; readonly data: JsonValue }
  | { readonly kind: 'pending'; readonly callId: string }
  | { readonly kind: 'settled'; readonly callId: string };
