import type { Worker } from './fleet-types.ts';

export interface WorkerProblem {
  readonly tone: 'warning' | 'bad';
  readonly text: string;
}

/** What an operator should look at on this worker, worst first. */
export function findWorkerProblems({ broken, services = [], hooks = [], crashes }: Worker): WorkerProblem[] {
  const problems: WorkerProblem[] = [
    ...broken.map(({ id, reason }): WorkerProblem => ({ tone: 'bad', text: `module ${id} is broken: ${reason}` })),
    ...services
      .filter(({ state }) => state !== 'ok')
      .map(({ service, state, detail }): WorkerProblem => {
        const why = detail === undefined ? '' : `: ${detail}`;
        return { tone: state === 'degraded' ? 'warning' : 'bad', text: `service ${service} is ${state}${why}` };
      }),
    ...hooks
      .filter(({ failed, dropped }) => failed > 0 || dropped > 0)
      .map(({ hook, failed, timedOut, dropped }): WorkerProblem => {
        const late = timedOut > 0 ? `, ${timedOut} of them too late` : '';
        const lost = dropped > 0 ? `; ${dropped} observations dropped` : '';
        return { tone: 'warning', text: `hook ${hook} failed ${failed} times${late}${lost}` };
      }),
    ...(crashes > 0 ? [{ tone: 'warning', text: `${crashes} runs of tools crashed` } as const] : []),
  ];
  return problems.sort((a, b) => a.tone.localeCompare(b.tone));
}
