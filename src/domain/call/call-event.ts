import type { JsonValue } from '../../base/json.ts';

export type NoticeLevel = 'debug' | 'info' | 'warn' | 'error';

/** Events that a caller can receive about its call while it is under way. Delivery is best effort; only the outcome is certain. */
export type CallEvent =
  | { readonly kind: 'queued'; readonly callId: string }
  | { readonly kind: 'started' }
  | { readonly kind: 'progress'; readonly done?: number; readonly total?: number; readonly message?: string }
  /** A message that the tool logs for its caller while it runs. */
  | { readonly kind: 'logged'; readonly level: NoticeLevel; readonly data: JsonValue }
  | { readonly kind: 'pending'; readonly callId: string }
  | { readonly kind: 'settled'; readonly callId: string };
