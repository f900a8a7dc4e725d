/** Max delay of a Node.js timer; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One limited wait, and its links in the list of waits of equal length. */
export interface Patient {
  waitsUntil: number;
  line: Line | undefined;
  before: Patient | undefined;
  after: Patient | undefined;
  outOfPatience(): void;
}

/** All waits of one length, as a linked list ordered by expiry. */
export interface Line {
  readonly waitMs: number;
  first: Patient | undefined;
  last: Patient | undefined;
  timer: NodeJS.Timeout;
}

export interface Patience {
  start(patient: Patient, waitMs: number): void;
  stop(patient: Patient): void;
  close(): void;
}

/**
 * Timers for very many short waits of a few different lengths: one timer per length instead of one per call. An empty line keeps its timer
 * until the timer fires, so that the next call can reuse it, but the timer then does not keep the process alive.
 */
export function createPatience(): Patience {
  const lines = new Map<number, Line>();

  function expire(line: Line): void {
    const now = performance.now();
    // A timer may fire a fraction of a millisecond early.
    while (line.first !== undefined && line.first.waitsUntil <= now + 1) {
      const patient = line.first;
      remove(line, patient);
      patient.outOfPatience();
    }
    if (line.first === undefined) lines.delete(line.waitMs);
    else line.timer = setTimeout(expire, Math.max(1, line.first.waitsUntil - now), line);
  }

  function remove(line: Line, patient: Patient): void {
    if (patient.before === undefined) line.first = patient.after;
    else patient.before.after = patient.after;
    if (patient.after === undefined) line.last = patient.before;
    else patient.after.before = patient.before;
    patient.before = patient.after = patient.line = undefined;
  }

  function openLine(waitMs: number): Line {
    const line: Line = { waitMs, first: undefined, last: undefined, timer: undefined as never };
    line.timer = setTimeout(expire, waitMs, line);
    lines.set(waitMs, line);
    return line;
  }

  return {
    start(patient, asked) {
      const waitMs = asked >= 1 ? Math.min(asked, LONGEST_TIMER_MS) : 1;
      const line = lines.get(waitMs) ?? openLine(waitMs);
      if (line.last === undefined) {
        line.first = patient;
        line.timer.ref();
      } else {
        line.last.after = patient;
        patient.before = line.last;
      }
      line.last = patient;
      patient.line = line;
      patient.waitsUntil = performance.now() + waitMs;
    },
    stop(patient) {
      const { line } = patient;
      if (line === undefined) return;
      remove(line, patient);
      if (line.first === undefined) line.timer.unref();
    },
    close() {
      for (const line of lines.values()) clearTimeout(line.timer);
      lines.clear();
    },
  };
}
