import type { VNode } from 'preact';
import { now } from '../clock.ts';
import { isoTime, showAgo, showCountdown, showTime } from '../show-time.ts';

/** Counts down in steps of a second. Screen readers read it on demand, not every second. */
export function TimeLeft({ until }: { readonly until: number }): VNode {
  const leftMs = until - now.value;
  const isShort = leftMs < 30_000;
  return (
    <span class={`time-left${isShort ? ' time-left-short' : ''}`}>
      {leftMs <= 0 ? 'time is up' : `${showCountdown(leftMs)} left`}
    </span>
  );
}

/** How long ago something was. The tooltip shows the exact time. */
export function Ago({ at }: { readonly at: number }): VNode {
  return (
    <time dateTime={isoTime(at)} title={showTime(at)}>
      {showAgo(at, now.value)}
    </time>
  );
}
