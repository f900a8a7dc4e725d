import type { EventSource } from '../ports/events.ts';
import type { LevelledLog } from './levelled-log.ts';

/** At `debug` every diagnostic event is a line. At other levels nobody listens, and events cost nothing. */
export function logEvents(events: EventSource, log: LevelledLog): void {
  let stop: (() => void) | undefined;
  log.onLevel((level) => {
    if (level === 'debug') stop ??= events.subscribe((event) => log.debug(event, event.kind));
    else {
      stop?.();
      stop = undefined;
    }
  });
}
