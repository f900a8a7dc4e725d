import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A library that moves the wall clock of a program by the seconds in a file, as an operator or NTP moves that of a machine. The
 * monotonic clock does not change.
 */
const SOURCE = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long shift(void) {
  const char *path = getenv("CLOCK_SHIFT_FILE");
  FILE *file = path ? fopen(path, "r") : NULL;
  long seconds = 0;
  if (!file) return 0;
  if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
  fclose(file);
  return seconds;
}
int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += shift();
  return result;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec time;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &time);
  now->tv_sec = time.tv_sec;
  now->tv_usec = time.tv_nsec / 1000;
  return 0;
}
time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
`;

export interface ShiftedClock {
  /** Environment variables for the program whose clock is moved. */
  readonly env: Readonly<Record<string, string>>;
  set(seconds: number): void;
}

/** Compiles the library; undefined on a machine without a C compiler. */
export function compileShiftedClock(folder: string): ShiftedClock | undefined {
  const [source, library, file] = ['clock.c', 'clock.so', 'shift'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(source, SOURCE);
  writeFileSync(file, '0');
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], { stdio: 'pipe' });
  } catch {
    return undefined;
  }
  return {
    env: { LD_PRELOAD: library, CLOCK_SHIFT_FILE: file },
    set: (seconds) => writeFileSync(file, String(seconds)),
  };
}
