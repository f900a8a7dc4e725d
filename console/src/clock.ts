import { computed, signal } from '@preact/signals';
import { clockOffsetMs } from './api.ts';

const TICK_MS = 1000;
const here = signal(Date.now());

/** The gateway's time, updated once a second. All countdowns share this one timer. */
export const now = computed(() => here.value + clockOffsetMs.value);

setInterval(() => {
  if (!document.hidden) here.value = Date.now();
}, TICK_MS);
document.addEventListener('visibilitychange', () => {
  here.value = Date.now();
});
