import { openSync, readFileSync, writeSync } from 'node:fs';
import { monotonicMs } from './monotonic.ts';

/** `S`: the tool started. `E`: it has finished its work and is about to return. `A`: it was aborted. */
export type EffectMark = 'S' | 'E' | 'A';

export interface EffectLine {
  readonly mark: EffectMark;
  readonly callId: string;
  readonly fence: number;
  readonly pid: number;
  readonly tool: string;
  readonly atMs: number;
  readonly subject: string;
  readonly argsDigest: string;
}

/** Each line is one write with O_APPEND: it is complete, in order, and kept even if the process is killed in the next moment. */
export function createEffectLog(file: string) {
  const descriptor = openSync(file, 'a');
  return (line: Omit<EffectLine, 'atMs' | 'pid'>): void => {
    const { mark, callId, fence, tool, subject, argsDigest } = line;
    writeSync(
      descriptor,
      `${mark} ${callId} ${fence} ${process.pid} ${tool} ${monotonicMs()} ${subject} ${argsDigest}\n`,
    );
  };
}

export function readEffectLog(file: string): EffectLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((text) => {
      const [mark, callId, fence, pid, tool, atMs, subject, argsDigest] = text.split(' ') as [EffectMark, ...string[]];
      return {
        mark,
        callId: callId!,
        fence: Number(fence),
        pid: Number(pid),
        tool: tool!,
        atMs: Number(atMs),
        subject: subject!,
        argsDigest: argsDigest!,
      };
    });
}
