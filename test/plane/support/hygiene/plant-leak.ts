import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { HygienePlane } from './hygiene-plane.ts';
import type { RedisWatch } from './sample-redis.ts';

export const PLANTS = ['timer', 'fd', 'heap', 'process', 'folder', 'key', 'consumer', 'client'] as const;
export type Plant = (typeof PLANTS)[number];

const STREAM = '{sallyport:0}:pool:default';
let planted = 0;

/** Leaks one thing, as a defect of the product would. A soak that then stays green is worth nothing. */
export async function plant(what: readonly Plant[], plane: HygienePlane, watch: RedisWatch | undefined): Promise<void> {
  for (const each of what) await plantOne(each, plane, watch);
}

async function plantOne(what: Plant, plane: HygienePlane, watch: RedisWatch | undefined): Promise<void> {
  planted += 1;
  switch (what) {
    case 'timer':
    case 'fd':
    case 'heap':
      await plane.processes[0]!.ask({ ask: what });
      return;
    case 'process':
      // This process ends by itself: no run may leave anything on the machine.
      spawn('sleep', ['120'], {
        env: { PATH: process.env['PATH'], TMPDIR: plane.temporary },
        detached: true,
        stdio: 'ignore',
      }).unref();
      return;
    case 'folder':
      mkdtempSync(join(plane.temporary, 'left-'));
      return;
    case 'key':
      await watch?.redis.set(`{sallyport:0}:body:planted-${planted}`, 'x');
      return;
    case 'consumer':
      // In a separate group, because any worker removes idle consumers of the workers' group.
      await watch?.redis.xgroup('CREATE', STREAM, `planted-${planted}`, '$');
      await watch?.redis.xgroup('CREATECONSUMER', STREAM, `planted-${planted}`, 'nobody');
      return;
    case 'client':
      await watch?.redis
        .duplicate({ connectionName: `planted-${planted}`, lazyConnect: true })
        .on('error', () => undefined)
        .connect();
  }
}
