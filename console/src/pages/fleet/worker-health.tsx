import type { VNode } from 'preact';
import { Badge } from '../../components/badge.tsx';
import { Inert } from '../../components/inert.tsx';
import { showDuration } from '../../show-time.ts';
import type { Worker } from './fleet-types.ts';
import { countOf } from './describe-statistics.ts';
import { findWorkerProblems } from './find-worker-problems.ts';

/** Shows the problems of a worker. The state of its hooks and services can be unfolded. */
export function WorkerHealth({ worker }: { readonly worker: Worker }): VNode {
  const problems = findWorkerProblems(worker);
  const { hooks = [], services = [] } = worker;
  return (
    <div class="health">
      {problems.length === 0 ? <Badge tone="good">ok</Badge> : null}
      <ul class="troubles">
        {problems.map(({ tone, text }) => (
          <li key={text}>
            <Badge tone={tone}>{tone === 'bad' ? 'bad' : 'look'}</Badge> <Inert text={text} />
          </li>
        ))}
      </ul>
      {hooks.length + services.length === 0 ? null : (
        <details>
          <summary>{`${countOf(hooks.length, 'hook')}, ${countOf(services.length, 'service')}`}</summary>
          <ul>
            {services.map(({ service, state, detail }) => (
              <li key={service}>
                <Inert text={`${service}: ${state}${detail === undefined ? '' : `, ${detail}`}`} />
              </li>
            ))}
            {hooks.map(({ hook, on, calls, blocked, asked, failed, p95Ms }) => (
              <li key={`${hook} ${on}`}>
                <Inert
                  text={`${hook} (${on}): ${calls} calls, ${blocked} blocked, ${asked} asked, ${failed} failed${
                    p95Ms === undefined ? '' : `, 95 % within ${showDuration(p95Ms)}`
                  }`}
                />
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
