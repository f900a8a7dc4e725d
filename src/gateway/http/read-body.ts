import type { IncomingMessage } from 'node:http';
import { createMiddleware } from 'hono/factory';
import { planeError } from '../../domain/errors.ts';
import { JSON_LIMITS, parseStrictJson } from '../../wire/strict-json.ts';
import type { GatewayEnv } from './gateway-env.ts';
import { askForBody } from './http-server.ts';
import { hasBody } from './request-facts.ts';

/** Arguments of a call may have 1 MiB; what stands around them has room too. */
export const BODY_BYTES = JSON_LIMITS.bytes + 64 * 1024;

/** What stands around arguments takes nothing away from what they may be; whoever takes them in looks at them again. */
const BODY_LIMITS = {
  bytes: BODY_BYTES,
  depth: JSON_LIMITS.depth + 2,
  keys: JSON_LIMITS.keys + 64,
  items: JSON_LIMITS.items,
};

const JSON_TYPE = /^application\/json(?:;[ \t]*charset="?utf-8"?)?$/i;
const METHODS_WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Reads the body once and strictly; `c.req.json()` and validators then get what was read. Goes before the routes that take JSON. */
export function strictJsonBody(limit: number = BODY_BYTES) {
  return createMiddleware<GatewayEnv>(async (context, next) => {
    const bytes = await readJsonBytes(context.env.incoming, limit);
    if (bytes !== undefined) {
      checkJson(bytes);
      // A promise in spite of its type. The text, since the framework parses that; its meaning is the same to every parser now.
      Object.assign(context.req.bodyCache, { text: Promise.resolve(bytes.toString('utf8')) });
    }
    await next();
  });
}

/** The bytes of a JSON body, before anybody parses them; undefined when there is none. */
export async function readJsonBytes(incoming: IncomingMessage, limit = BODY_BYTES): Promise<Buffer | undefined> {
  const { headers, method = 'GET' } = incoming;
  if (!hasBody(incoming)) return undefined;
  if (METHODS_WITHOUT_BODY.has(method)) {
    throw planeError('HTTP_REQUEST_INVALID', { problem: `${method} takes no body` });
  }
  checkBodyType(headers);
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  askForBody(incoming);
  const bytes = await readBytes(incoming, limit);
  // The adapter makes the body of its Request of this, for those who read it there.
  Object.assign(incoming, { rawBody: bytes });
  return bytes;
}

function checkBodyType(headers: IncomingMessage['headers']): void {
  // A few kilobytes can inflate to gigabytes.
  if (headers['content-encoding'] !== undefined) {
    throw planeError('HTTP_BODY_TYPE', { problem: 'it has a Content-Encoding' });
  }
  // Other types can be sent by any page of any site without asking first.
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) {
    throw planeError('HTTP_BODY_TYPE', { problem: 'its Content-Type is not application/json in UTF-8' });
  }
}

/** Counted while it arrives: what is announced may be a lie, or nothing. */
function readBytes(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (settle: () => void): void => {
      incoming.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      settle();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= limit) return;
      incoming.pause();
      end(() => reject(tooLarge(limit)));
    };
    const onEnd = (): void => end(() => resolve(Buffer.concat(chunks, size)));
    const onClose = (): void =>
      end(() => reject(planeError('HTTP_REQUEST_INVALID', { problem: 'the body has no end' })));
    incoming.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

function tooLarge(limit: number): Error {
  return planeError('HTTP_BODY_TOO_LARGE', { problem: `the limit is ${limit} bytes` });
}

function checkJson(bytes: Buffer): void {
  const parsed = parseStrictJson(bytes, BODY_LIMITS);
  if (parsed.ok) return;
  const { kind, problem, position } = parsed.error;
  if (kind === 'size') throw planeError('HTTP_BODY_TOO_LARGE', { problem });
  throw planeError('HTTP_BODY_INVALID', {
    problem: position === undefined ? problem : `${problem} (at character ${position})`,
  });
}
