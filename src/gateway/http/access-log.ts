import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../../ports/log.ts';
import type { InFlight } from './in-flight.ts';

const QUIET_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
const LONGEST_PATH = 200;
/** Somebody may paste a token where it does not belong. */
const SECRETS = /sp[tsl]_[^/]*/g;

/** One line per request when it has been answered. No query, no headers, no body: any of them may hold a secret. */
export function logRequest(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  facts: { readonly requestId: string; readonly address: string; readonly inFlight: InFlight; readonly log: Log },
): void {
  const { requestId, address, inFlight, log } = facts;
  const startedAt = performance.now();
  const path = shownPath(incoming.url ?? '');
  outgoing.once('close', () => {
    const bearer = inFlight.ownerOf(incoming)?.auth;
    const line = {
      requestId,
      method: incoming.method,
      path,
      status: outgoing.statusCode,
      durationMs: Math.round(performance.now() - startedAt),
      address,
      ...(bearer === undefined ? {} : { tokenId: bearer.id, via: bearer.via }),
      ...(outgoing.writableFinished ? {} : { cut: true }),
    };
    if (QUIET_PATHS.has(path)) log.debug(line, 'request');
    else log.info(line, 'request');
  });
}

/** A target that is no path may be a whole address, with a password in it. */
function shownPath(target: string): string {
  if (!target.startsWith('/')) return '(no path)';
  return target.split('?', 1)[0]!.replaceAll(SECRETS, '***').slice(0, LONGEST_PATH);
}
