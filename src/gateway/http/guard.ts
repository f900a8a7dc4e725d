import type { IncomingMessage } from 'node:http';
import { planeError, type PlaneError } from '../../domain/errors/errors.ts';
import { readForwarded, type Forwarded } from './client-address.ts';
import { valuesOf } from './request-facts.ts';

export interface GuardSettings {
  readonly port: number;
  /** The address that the gateway listens on. */
  readonly host: string;
  /** More host names that the gateway answers to, with their port unless it is the default port of the scheme. */
  readonly hosts: readonly string[];
  /** Origins of pages that may send requests, in addition to the gateway's own. */
  readonly origins: readonly string[];
  readonly isTrustedProxy: (address: string) => boolean;
}

export interface Admitted extends Forwarded {
  readonly path: string;
  /** The Origin header, which was checked; undefined if there was none. */
  readonly origin: string | undefined;
}

export type Guard = (
  incoming: IncomingMessage,
) =>
  | { readonly kind: 'admitted'; readonly request: Admitted }
  | { readonly kind: 'refused'; readonly error: PlaneError; readonly address: string };

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/**
 * Creates the check that admits or refuses a request by its head alone, before any byte of its body is read. The attack: a page on the
 * internet can make a local browser send requests to this machine, and by DNS rebinding even under the page's own name. Such a request has
 * the page's name as its Host, or the page as its Origin.
 */
export function createGuard(settings: GuardSettings): Guard {
  const { isTrustedProxy } = settings;
  const loopback = withPort(LOOPBACK_NAMES, settings.port);
  const own = ANY_ADDRESS.has(settings.host) ? [] : withPort([inBrackets(settings.host)], settings.port);
  const configured = settings.hosts.map((name) => name.toLowerCase());
  const hosts = new Set([...loopback, ...own, ...configured]);
  const origins = new Set([
    ...[...loopback, ...own].map((name) => `http://${name}`),
    ...configured.map((name) => `https://${name}`),
    ...settings.origins,
  ]);

  return (incoming) => {
    const forwarded = readForwarded(incoming, isTrustedProxy);
    const error = problemWith(incoming, forwarded);
    if (error !== undefined) return { kind: 'refused', error, address: forwarded.address };
    const path = incoming.url!.split('?', 1)[0]!;
    return { kind: 'admitted', request: { ...forwarded, path, origin: incoming.headers.origin } };
  };

  function problemWith(incoming: IncomingMessage, forwarded: Forwarded): PlaneError | undefined {
    const given = valuesOf(incoming, 'host');
    const [host = ''] = given;
    if (given.length !== 1 || host === '') {
      return planeError('HTTP_REQUEST_INVALID', { problem: 'it needs exactly one Host header' });
    }
    const shown = (forwarded.host ?? host).toLowerCase();
    if (!hosts.has(host.toLowerCase()) || !hosts.has(shown)) return planeError('HTTP_HOST_REFUSED', {});
    const { origin } = incoming.headers;
    // This also refuses the literal "null": sandboxed frames and local files of any author have that origin.
    if (origin !== undefined && !origins.has(origin) && origin !== `${forwarded.scheme}://${shown}`) {
      return planeError('HTTP_ORIGIN_REFUSED', {});
    }
    const target = incoming.url ?? '';
    if (!target.startsWith('/')) {
      return planeError('HTTP_REQUEST_INVALID', { problem: 'its target is not a path' });
    }
    const [path = ''] = target.split('?', 1);
    if (!isPlainPath(path)) return planeError('HTTP_PATH_UNKNOWN', {});
    const query = target.slice(path.length);
    // Otherwise a filter with such a value would be taken as it is written, and match nothing.
    if (query === '' || isDecodable(query)) return undefined;
    return planeError('HTTP_REQUEST_INVALID', { problem: 'its query has a % that begins no character' });
  }
}

function withPort(names: readonly string[], port: number): string[] {
  return names.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
}

function inBrackets(host: string): string {
  return host.includes(':') ? `[${host}]` : host.toLowerCase();
}

const SEGMENT = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/;
/** Percent-encoded slash, backslash, percent sign or control character, and what needs no encoding: letters, digits, `-`, `.`, `_` and `~`. */
const ENCODED_TRICK = /%(?:[01][0-9a-f]|2[5def]|3\d|4[1-9a-f]|5[0-9acf]|6[1-9a-f]|7[0-9aef])/i;

/**
 * Whether a path means the same to every program that reads it: no empty or dot segments, and percent-encoding only where a name needs it.
 * The router decodes the path, so `/v1/%6de` would be served as `/v1/me`, and a proxy in front that protects `/v1/me` would let it through.
 * Other paths are answered as not found. They are never normalised, since then the path that is served would not be the path that was
 * checked.
 * @internal
 */
export function isPlainPath(path: string): boolean {
  if (path === '/') return true;
  if (!path.startsWith('/')) return false;
  const [, ...segments] = path.split('/');
  // The router decides about a single slash at the end.
  if (segments.at(-1) === '') segments.pop();
  return segments.every(
    (segment) =>
      SEGMENT.test(segment) &&
      segment !== '.' &&
      segment !== '..' &&
      !ENCODED_TRICK.test(segment) &&
      isDecodable(segment),
  );
}

/** Whether the encoded bytes are UTF-8. The router would keep other bytes encoded, and so read them as the text `%ff`. */
function isDecodable(segment: string): boolean {
  try {
    // The result is compared only because the bundler drops a call whose result is not used, although the call can throw.
    return decodeURIComponent(segment) !== '';
  } catch {
    return false;
  }
}
