import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { spawnNode, temporaryFolder } from '../support/process.ts';

const PROGRAM = fileURLToPath(new URL('off-process.mjs', import.meta.url));
const MODULES = fileURLToPath(new URL('../fixtures/events-plane/modules', import.meta.url));

interface Seen {
  readonly packages: readonly string[];
  readonly fetch: boolean;
  readonly trace: string | null;
}

/** What a process has loaded after a call, and the trace that its tool saw. */
async function run(telemetry?: object): Promise<Seen> {
  const folder = temporaryFolder();
  const store = { store: 'embedded', folder: join(folder.path, 'store') };
  const options = JSON.stringify({ store, modules: MODULES, ...(telemetry === undefined ? {} : { telemetry }) });
  const child = await spawnNode(PROGRAM, [], { env: { ...process.env, OPTIONS: options } });
  try {
    const line = await child.waitForLine(/^done /);
    await child.exited;
    return JSON.parse(line.slice('done '.length)) as Seen;
  } finally {
    await child.stop();
    folder.remove();
  }
}

describe('telemetry that is off', () => {
  it('loads no SDK and no fetch, and gives calls no spans', async () => {
    expect(await run()).toStrictEqual({ packages: [], fetch: false, trace: null });
  });

  it('is what the same process does otherwise when it is on', async () => {
    const on = await run({ metrics: {}, traces: { endpoint: 'http://127.0.0.1:9/v1/traces', sampleRatio: 0 } });
    expect(on.packages).toStrictEqual(['@opentelemetry', 'prom-client']);
    // The trace begins in this process and is not sampled; the last two digits say so to whatever is called next.
    expect(on.trace).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });
});
