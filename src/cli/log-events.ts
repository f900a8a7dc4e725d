import type { DiagnosticEvent } from '../domain/diagnostic-event.ts';
import type { EventSource } from '../ports/events.ts';
import type { LevelledLog } from './levelled-log.ts';

/** Where the other lines of the log have it. */
function traceIdOf({ trace }: DiagnosticEvent): { readonly traceId?: string } {
  return trace === undefined ? {} : { traceId: trace.traceId };
}

/** At `debug` every diagnostic event is a line. At other levels nobody listens, and events cost nothing. */
export function logEvents(events: EventSource, log: LevelledLog): void {
  let stop: (() => void) | undefined;
  log.onLevel((level) => {
    if (level === 'debug')
      stop ??= events.subscribe((event) => log.debug({ ...event, ...traceIdOf(event) }, event.kind));
    else {
      stop?.();
      stop = undefined;
    }
  });
}
