import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const MAX_AGE_S = 300;

/** `body` is what came over the wire, before anything parsed it. */
export function isFromSallyport(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const timestamp = String(headers['sallyport-timestamp']);
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= MAX_AGE_S)) return false;
  const signature = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  const expected = Buffer.from(`v1=${signature}`);
  const given = Buffer.from(String(headers['sallyport-signature']));
  return given.length === expected.length && timingSafeEqual(given, expected);
}
