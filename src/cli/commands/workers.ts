import { Command } from 'commander';
import { describeProblem } from '../../operate/inspect-hooks.ts';
import { describeServiceProblem } from '../../operate/inspect-fleet.ts';
import { action } from '../command-context.ts';
import { showDuration } from '../duration.ts';
import { withStore } from '../with-store.ts';

export function workersCommand(): Command {
  return new Command('workers').description('Workers that are alive, and what they serve').action(
    action((context) =>
      withStore(context, async (store) => {
        const { terminal } = context;
        const workers = await store.listWorkers();
        if (terminal.json) return terminal.printJson(workers);
        if (workers.length === 0) return terminal.note('No worker is alive.');
        const now = await store.now();
        terminal.printTable(
          ['WORKER', 'POOL', 'HOST', 'PID', 'STATE', 'RUNNING', 'CRASHES', 'UP', 'RELEASE', 'MODULES'],
          workers.map((worker) => [
            worker.workerId,
            worker.pool,
            worker.host,
            String(worker.pid),
            { text: worker.state, style: worker.state === 'serving' ? 'green' : 'yellow' },
            `${worker.running}/${worker.concurrency}`,
            String(worker.crashes),
            showDuration(now - worker.startedAt),
            worker.release,
            worker.modules.map(({ id }) => id).join(' '),
          ]),
        );
        for (const { workerId, broken, hooks = [], services = [] } of workers) {
          for (const { id, reason } of broken) terminal.warn(`${workerId} could not load ${id}: ${reason}`);
          for (const health of hooks) {
            const problem = describeProblem(health);
            if (problem !== undefined) terminal.warn(`${workerId}: ${problem.found}`);
          }
          for (const health of services) {
            const problem = describeServiceProblem(health);
            if (problem !== undefined) terminal.warn(`${workerId}: ${problem}`);
          }
        }
      }),
    ),
  );
}
