import type { DiagnosticEvent } from '../domain/events/diagnostic-event.ts';
import type { EventSource } from '../domain/ports/events.ts';
import type { LevelledLog } from './levelled-log.ts';

/** The trace id as the field `traceId`, where the other log lines have it. */
function traceIdOf({ trace }: DiagnosticEvent): { readonly traceId?: string } {
  return trace === undefined ? {} : { traceId: trace.traceId };
}

/** Logs every diagnostic event as a line at the level `debug`. At other levels there is no subscription, so events cost nothing. */
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
