// A worker that will be killed: starts runs in tool processes, prints their pids once the tools are inside, and stays.
import { ProcessRunner } from '../../dist/worker/runners/process/process-runner.js';

const [, , file, ...tools] = process.argv;
const runner = new ProcessRunner();

await Promise.all(
  tools.map(
    (tool) =>
      new Promise((entered) => {
        void runner.run({
          tool: { id: `hostile.${tool}`, limits: { maxResultBytes: 1_000_000 } },
          source: { file, generation: '1', module: 'hostile', tool },
          callId: 'c',
          fence: 1,
          identity: { tenant: 't', subject: 's', agent: 'a' },
          arguments: { stay: true },
          untrusted: {},
          setup: {},
          timeoutMs: 600_000,
          signal: new AbortController().signal,
          onProgress: () => {},
          onLog: ({ message }) => {
            console.log(message);
            entered();
          },
          onNestedCall: () => new Promise(() => {}),
        });
      }),
  ),
);
console.log(`pids ${runner.pids.join(' ')}`);
