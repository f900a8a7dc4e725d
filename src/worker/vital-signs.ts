/** Positions in the shared array of numbers that the main thread updates and the supervisor thread reads. */
const LOOP_BEATS = 0;
const STATE = 1;
const RUNNING = 2;

export const WORKER_STATES = ['starting', 'serving', 'draining', 'stopped'] as const;
export type WorkerState = (typeof WORKER_STATES)[number];

export interface VitalSigns {
  readonly shared: SharedArrayBuffer;
  /** Counts one more round of the consumer loop. */
  beat(): void;
  readonly beats: number;
  state: WorkerState;
  running: number;
}

export function createVitalSigns(shared = new SharedArrayBuffer(16)): VitalSigns {
  const words = new Int32Array(shared);
  return {
    shared,
    beat: () => void Atomics.add(words, LOOP_BEATS, 1),
    get beats() {
      return Atomics.load(words, LOOP_BEATS);
    },
    get state() {
      return WORKER_STATES[Atomics.load(words, STATE)]!;
    },
    set state(next) {
      Atomics.store(words, STATE, WORKER_STATES.indexOf(next));
    },
    get running() {
      return Atomics.load(words, RUNNING);
    },
    set running(count) {
      Atomics.store(words, RUNNING, count);
    },
  };
}
