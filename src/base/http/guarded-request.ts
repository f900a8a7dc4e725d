import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { checkTarget, parseWebUrl, type Address, type WebRules } from './check-target.ts';
import { readBody } from './read-body.ts';
import { WebRefusal } from './web-refusal.ts';

export interface WebRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

export interface WebResponse {
  /** The URL after the last redirect. */
  readonly url: string;
  readonly httpStatus: number;
  readonly contentType: string;
  readonly bytes: Buffer;
  /** The body had more than `maxBytes`. */
  readonly cut: boolean;
}

interface Hop extends Omit<WebRequest, 'url'> {
  readonly url: URL;
}

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const OWN_HEADERS = { 'user-agent': 'sallyport/1', 'accept-encoding': 'gzip, deflate, br' };

/**
 * Sends one request and follows its redirects. Each hop is checked as if it were the first. Throws WebRefusal for an error that the caller
 * can act on.
 */
export async function guardedRequest(
  request: WebRequest,
  rules: WebRules & { readonly maxBytes: number },
  signal: AbortSignal,
  { maxRedirects = MAX_REDIRECTS }: { readonly maxRedirects?: number } = {},
): Promise<WebResponse> {
  let hop: Hop = { ...request, url: parseWebUrl(request.url) };
  for (let redirects = 0; ; redirects += 1) {
    const addresses = await unlessAborted(checkTarget(hop.url, rules), signal);
    const response = await send(hop, addresses, signal);
    try {
      const next = maxRedirects === 0 ? undefined : redirectOf(hop, response);
      // If no redirects are allowed, a redirect is an answer like any other.
      if (next === undefined) return await finish(hop, response, rules.maxBytes, signal);
      if (redirects >= maxRedirects) {
        throw new WebRefusal('TOO_MANY_REDIRECTS', `The page redirected more than ${maxRedirects} times.`);
      }
      hop = next;
    } finally {
      response.destroy();
    }
  }
}

function send(hop: Hop, addresses: readonly Address[], signal: AbortSignal): Promise<IncomingMessage> {
  const start = hop.url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = start(hop.url, {
      method: hop.method,
      headers: { ...hop.headers, ...OWN_HEADERS },
      lookup: pinTo(addresses),
      signal,
      // No shared agent: it could reuse a connection of another caller, or take a proxy from the environment.
      agent: false,
    });
    outgoing.once('response', resolve);
    // The listener is not removed after the response, because a connection that breaks later emits its error here too.
    outgoing.on('error', reject);
    outgoing.end(hop.body);
  }).catch((error: unknown) => unreachable(hop.url, error, signal));
}

/**
 * Connects only to the addresses that were checked. The attack: a name that resolves to a public address first, and to a private one when
 * resolved again.
 */
function pinTo(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else if (first === undefined) callback(new Error('no address'), '', 0);
    else callback(null, first.address, first.family);
  };
}

function redirectOf(hop: Hop, { statusCode = 0, headers }: IncomingMessage): Hop | undefined {
  if (!REDIRECTS.includes(statusCode) || headers.location === undefined) return undefined;
  const url = parseWebUrl(headers.location, hop.url.href);
  const sameOrigin = url.origin === hop.url.origin;
  const becomesGet = statusCode === 303 || (statusCode < 303 && hop.method === 'POST');
  if (hop.body !== undefined && !becomesGet && !sameOrigin) {
    // A server must not choose where the request body goes: by a redirect it could send the body to any other server.
    const problem = `The server wants the data sent to ${url.origin} instead; it was not sent there.`;
    throw new WebRefusal('REDIRECT_REFUSED', problem);
  }
  const kept = sameOrigin ? withoutBodyHeaders(hop.headers, becomesGet) : {};
  return becomesGet ? { url, method: 'GET', headers: kept } : { ...hop, url, headers: kept };
}

function withoutBodyHeaders(headers: WebRequest['headers'], becomesGet: boolean): WebRequest['headers'] {
  if (!becomesGet) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.toLowerCase().startsWith('content-')));
}

async function finish(
  hop: Hop,
  response: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
): Promise<WebResponse> {
  const { bytes, cut } = await readBody(response, maxBytes).catch((error: unknown) =>
    unreachable(hop.url, error, signal),
  );
  const contentType = response.headers['content-type'] ?? '';
  return { url: hop.url.href, httpStatus: response.statusCode ?? 0, contentType, bytes, cut };
}

function unreachable(url: URL, error: unknown, signal: AbortSignal): never {
  // An aborted call ends as aborted, whatever error the broken connection reports.
  signal.throwIfAborted();
  const { code = 'no code' } = error as NodeJS.ErrnoException;
  throw new WebRefusal('NO_ANSWER', `${url.host} gave no usable answer (${code}).`, error);
}

/**
 * Returns the result of `work`, but rejects as soon as the signal is aborted: the system's resolver cannot be interrupted, so its late
 * answer is ignored.
 */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}
