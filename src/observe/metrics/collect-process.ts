import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Meter } from './meter.ts';

const SECOND_NS = 1e9;
const SECOND_US = 1e6;
const RESOLUTION_MS = 20;

export interface Collector {
  /** Called before each scrape. */
  collect(): void | Promise<void>;
  close(): void;
}

export function collectProcess(meter: Meter, about: { readonly release: string; readonly role: string }): Collector {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let countedUs = 0;
  meter.set('sallyport_build_info', about, 1);
  meter.set('process_start_time_seconds', {}, Math.round(performance.timeOrigin) / 1000);
  return {
    collect() {
      const { user, system } = process.cpuUsage();
      meter.count('process_cpu_seconds_total', {}, Math.max(0, user + system - countedUs) / SECOND_US);
      countedUs = user + system;
      const { rss, heapUsed } = process.memoryUsage();
      meter.set('process_resident_memory_bytes', {}, rss);
      meter.set('nodejs_heap_used_bytes', {}, heapUsed);
      for (const percentile of [50, 99]) {
        // The histogram records the whole time between two samples. The delay is the time beyond the sampling interval.
        const lateNs = delay.count === 0 ? 0 : delay.percentile(percentile) - RESOLUTION_MS * 1e6;
        meter.set(
          'nodejs_eventloop_delay_seconds',
          { quantile: String(percentile / 100) },
          Math.max(0, lateNs) / SECOND_NS,
        );
      }
      delay.reset();
    },
    close: () => void delay.disable(),
  };
}
