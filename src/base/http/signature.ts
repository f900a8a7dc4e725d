import { createHmac } from 'node:crypto';

/** A shorter secret could be guessed. */
export const MIN_SECRET_LENGTH = 16;

/** Headers that sign a body and the current time. The receiver can refuse an old time, so a recorded request cannot be sent again later. */
export function signatureHeaders(secret: string, body: string, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return { 'sallyport-timestamp': timestamp, 'sallyport-signature': `v1=${signature}` };
}
