import type { IncomingMessage } from 'node:http';
import { createMiddleware } from 'hono/factory';
import { planeError } from '../../domain/errors/errors.ts';
import { JSON_LIMITS, parseStrictJson } from '../../base/strict-json.ts';
import type { GatewayEnv } from './gateway-env.ts';
import { askForBody } from './http-server.ts';
import { hasBody } from './request-facts.ts';

/** Max bytes of a body. The arguments of a call may have 1 MiB; the JSON around them needs some room too. */
const BODY_BYTES = JSON_LIMITS.bytes + 64 * 1024;

/**
 * The limits of a whole body: those of arguments, plus room for the JSON around them. The code that accepts the arguments checks them again
 * with their own limits.
 */
const BODY_LIMITS = {
  bytes: BODY_BYTES,
  depth: JSON_LIMITS.depth + 2,
  keys: JSON_LIMITS.keys + 64,
  items: JSON_LIMITS.items,
};

const JSON_TYPE = /^application\/json(?:;[ \t]*charset="?utf-8"?)?$/i;
const METHODS_WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Reads the body once and parses it strictly. `c.req.json()` and validators then get the bytes that were read. Put it before the routes
 * that take JSON.
 */
export function strictJsonBody(limit: number = BODY_BYTES) {
  return createMiddleware<GatewayEnv>(async (context, next) => {
    const bytes = await readJsonBytes(context.env.incoming, limit);
    if (bytes !== undefined) {
      checkJson(bytes);
      // The framework takes the text from this cache instead of reading the body again. The cache holds promises, in spite of its type. The
      // text was parsed strictly, so it means the same to every JSON parser.
      Object.assign(context.req.bodyCache, { text: Promise.resolve(bytes.toString('utf8')) });
    }
    await next();
  });
}

/** Reads the bytes of a JSON body before any parser sees them. Returns undefined if there is no body. */
export async function readJsonBytes(incoming: IncomingMessage, limit = BODY_BYTES): Promise<Buffer | undefined> {
  const { headers, method = 'GET' } = incoming;
  if (!hasBody(incoming)) return undefined;
  if (METHODS_WITHOUT_BODY.has(method)) {
    throw planeError('HTTP_REQUEST_INVALID', { problem: `${method} takes no body` });
  }
  checkBodyType(incoming);
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  askForBody(incoming);
  const bytes = await readBytes(incoming, limit);
  // The Node adapter of the framework builds the body of its Request from this property, for code that reads the body of the Request.
  Object.assign(incoming, { rawBody: bytes });
  return bytes;
}

function checkBodyType({ headers, headersDistinct }: IncomingMessage): void {
  // Compressed bodies are refused: a few kilobytes can inflate to gigabytes.
  if (headers['content-encoding'] !== undefined) {
    throw planeError('HTTP_BODY_TYPE', { problem: 'it has a Content-Encoding' });
  }
  // Any page of any site can send other content types without a CORS preflight.
  // Node keeps the first of several such headers, and the framework joins them: each would read another type.
  const [type = '', ...others] = headersDistinct['content-type'] ?? [];
  if (others.length > 0) throw planeError('HTTP_BODY_TYPE', { problem: 'it has more than one Content-Type' });
  if (!JSON_TYPE.test(type)) {
    throw planeError('HTTP_BODY_TYPE', { problem: 'its Content-Type is not application/json in UTF-8' });
  }
}

/** Reads at most `limit` bytes. They are counted as they arrive: the announced length may be wrong or missing. */
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
