// One side of one variant in a process of its own, told what to do over IPC: `side.js <variant> <caller|worker>`.
import { runLoop, type Load } from './run-loop.ts';
import type { CallerSide, Place, WorkerSide } from './variant.ts';
import { VARIANTS, type VariantName } from './variants.ts';

export type Order =
  | { readonly kind: 'open'; readonly place: Place }
  | { readonly kind: 'run'; readonly load: Load }
  | { readonly kind: 'cpu' }
  | { readonly kind: 'close' };

const [name, role] = process.argv.slice(2) as [VariantName, 'caller' | 'worker'];
const variant = await VARIANTS[name]();
let caller: CallerSide | undefined;
let worker: WorkerSide | undefined;

async function obey(order: Order): Promise<unknown> {
  switch (order.kind) {
    case 'open':
      if (role === 'caller') caller = await variant.openCaller(order.place);
      else worker = await variant.openWorker!(order.place);
      return { about: variant.about };
    case 'run':
      return runLoop(caller!, order.load);
    case 'cpu': {
      const { user, system } = process.cpuUsage();
      return user + system;
    }
    case 'close':
      await caller?.close();
      await worker?.close();
      // Lets the process end by itself, so that a leak of the variant shows as a process that stays.
      process.off('disconnect', endAlone);
      setImmediate(() => process.disconnect());
      return undefined;
  }
}

process.on('message', (order: Order) => {
  obey(order).then(
    (answer) => process.send!({ answer }),
    (error: unknown) => process.send!({ problem: error instanceof Error ? error.stack : String(error) }),
  );
});
function endAlone(): void {
  process.exit(1);
}
process.once('disconnect', endAlone);
// A terminal signals the whole group; the parent closes this side, or ends and takes it along.
process.on('SIGINT', () => undefined);
