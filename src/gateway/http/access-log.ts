import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../../domain/ports/log.ts';
import type { InFlight } from './in-flight.ts';
import { RateLimit } from './rate-limit.ts';
import type { RequestFacts } from './request-facts.ts';
import { whenSent } from './when-sent.ts';

const QUIET_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
const MAX_PATH_LENGTH = 200;
/** Matches tokens in a path, so that the log does not show them: a person may paste a token into the address bar by mistake. */
const SECRETS = /sp[tsl]_[^/]*/g;

/**
 * The limit of log lines about requests without a valid token: 100 at once, then one per second. An attacker must not be able to fill the
 * disk.
 */
const STRANGER_LINES = { perSecond: 1, burst: 100 };
/** How long omitted lines are counted before one line reports their number. */
const COUNT_MS = 10_000;

export interface AccessLog {
  /** Logs one line when the request has been answered. */
  follow(incoming: IncomingMessage, outgoing: ServerResponse, facts: RequestFacts): void;
  /** Logs a failure if the request has a valid token. Requests without one share a limit of lines. */
  failed(incoming: IncomingMessage, facts: Readonly<Record<string, unknown>>, message: string): void;
  close(): void;
}

/** Logs one line per request. The line has no query, no headers and no body: any of them may hold a secret. */
export function createAccessLog(
  log: Log,
  inFlight: Pick<InFlight, 'ownerOf'>,
  limit: RateLimit = new RateLimit(STRANGER_LINES),
): AccessLog {
  let omitted = 0;
  let timer: NodeJS.Timeout | undefined;

  function reportOmitted(): void {
    clearTimeout(timer);
    timer = undefined;
    if (omitted > 0) log.info({ omitted }, 'more lines about requests without a valid token');
    omitted = 0;
  }

  /** Whether a line about this request may be logged. Counts the lines that are omitted. */
  function mayWrite(incoming: IncomingMessage): boolean {
    if (inFlight.ownerOf(incoming) !== undefined || limit.take('') === 0) return true;
    omitted += 1;
    timer ??= setTimeout(reportOmitted, COUNT_MS).unref();
    return false;
  }

  return {
    follow(incoming, outgoing, { requestId, address }) {
      const startedAt = performance.now();
      const path = shownPath(incoming.url ?? '');
      whenSent(incoming, outgoing, (how) => {
        const bearer = inFlight.ownerOf(incoming)?.auth;
        const isQuiet = QUIET_PATHS.has(path);
        if (!isQuiet && !mayWrite(incoming)) return;
        const line = {
          requestId,
          method: incoming.method,
          path,
          status: outgoing.statusCode,
          durationMs: Math.round(performance.now() - startedAt),
          address,
          ...(bearer === undefined ? {} : { tokenId: bearer.id, via: bearer.via }),
          ...(how === 'finished' ? {} : { cut: true }),
        };
        if (isQuiet) log.debug(line, 'request');
        else log.info(line, 'request');
      });
    },
    failed(incoming, facts, message) {
      if (mayWrite(incoming)) log.error(facts, message);
    },
    close: reportOmitted,
  };
}

/**
 * The path of a request target as the log shows it. A target that is not a path may be a whole URL with a password in it, so it is not
 * shown.
 */
function shownPath(target: string): string {
  if (!target.startsWith('/')) return '(no path)';
  return target.split('?', 1)[0]!.replaceAll(SECRETS, '***').slice(0, MAX_PATH_LENGTH);
}
