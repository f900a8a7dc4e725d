const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * `120 µs`, `850 ms`, `2.3 s`, `12 s`, `4 min 5 s`, `3 h 10 min`, `2 d 4 h`. Zero is shown as `< 1 ms`: it is the difference of two times
 * in whole milliseconds.
 */
export function showDuration(ms: number): string {
  if (ms <= 0) return '< 1 ms';
  if (ms < 0.9995) return `${Math.round(ms * 1000)} µs`;
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return two(ms, MINUTE_MS, 'min', SECOND_MS, 's');
  if (ms < DAY_MS) return two(ms, HOUR_MS, 'h', MINUTE_MS, 'min');
  return two(ms, DAY_MS, 'd', HOUR_MS, 'h');
}

/** Shows whole seconds below a minute: a value that changes once a second should not look more exact than that. */
export function showCountdown(ms: number): string {
  return ms < MINUTE_MS ? `${Math.ceil(ms / SECOND_MS)} s` : showDuration(ms);
}

function two(ms: number, unitMs: number, unit: string, restMs: number, rest: string): string {
  const whole = Math.floor(ms / unitMs);
  const left = Math.floor((ms % unitMs) / restMs);
  return left === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${left} ${rest}`;
}

/** Rounded coarsely, so that a long list does not change every second. */
export function showAgo(at: number, now: number): string {
  const ms = now - at;
  if (ms < -MINUTE_MS) return `in ${showDuration(-ms)}`;
  if (ms < 5 * SECOND_MS) return 'just now';
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s ago`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ago`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ago`;
  return showTime(at);
}

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Whether the number is a valid date. An invalid one is shown as a number, so that a tampered audit record does not break its page. */
const isDate = (at: number): boolean => !Number.isNaN(new Date(at).getTime());

export function showTime(at: number): string {
  return isDate(at) ? FULL.format(at) : `time ${at}`;
}

export function isoTime(at: number): string {
  return isDate(at) ? new Date(at).toISOString() : String(at);
}

export function showBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
