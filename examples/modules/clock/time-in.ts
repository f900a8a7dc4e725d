export interface ZonedTime {
  readonly utc: string;
  readonly local: string;
  readonly weekday: string;
  readonly timeZone: string;
  readonly unixMs: number;
}

/** The instant as a wall clock in that time zone shows it; undefined for an unknown time zone. */
export function timeIn(timeZone: string, instant: Date): ZonedTime | undefined {
  const format = formatFor(timeZone);
  if (format === undefined) return undefined;
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
  const { year, month, day, hour, minute, second, weekday = '', timeZoneName = '' } = parts;
  // "GMT+01:00", or only "GMT" if there is no offset.
  const offset = timeZoneName.slice('GMT'.length) || '+00:00';
  return {
    utc: instant.toISOString(),
    local: `${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`,
    weekday,
    timeZone: format.resolvedOptions().timeZone,
    unixMs: instant.getTime(),
  };
}

function formatFor(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      weekday: 'long',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
    });
  } catch {
    return undefined;
  }
}
