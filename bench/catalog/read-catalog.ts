// A client that reads a large catalog and calls its first and its last tool. Argument: its orders as JSON. Prints its facts as JSON.
import { connect, type ConnectOptions } from 'sallyport/client';
import { residentMb } from './resident.ts';

export interface ReadOrders {
  readonly store: ConnectOptions;
  readonly tools: readonly string[];
}

export interface ReadFacts {
  readonly tools: number;
  readonly digest: string;
  readonly sequence: number;
  readonly readMs: number;
  readonly calls: readonly {
    readonly tool: string;
    readonly kind: string;
    readonly by: unknown;
    readonly ms: number;
  }[];
  readonly idleMb: number;
  readonly residentMb: number;
}

const { store, tools } = JSON.parse(process.argv[2] ?? '{}') as ReadOrders;
const client = await connect(store);
const session = await client.openSession({ subject: 'bench', agent: 'bench' });
const idleMb = residentMb(process.pid);

const startedAt = performance.now();
const catalog = await client.catalog();
const readMs = performance.now() - startedAt;

const calls: ReadFacts['calls'][number][] = [];
for (const tool of tools) {
  const askedAt = performance.now();
  const answer = await client.call(session, tool, { text: 'x' }, { waitMs: 30_000 });
  const ms = performance.now() - askedAt;
  if (answer.kind === 'pending') throw new Error(`${tool} is still pending after ${Math.round(ms)} ms`);
  const { kind, structured } = answer.outcome;
  calls.push({ tool, kind, by: (structured as { by?: unknown } | undefined)?.by, ms });
}
const facts: ReadFacts = {
  tools: catalog.modules.reduce((sum, module) => sum + module.tools.length, 0),
  digest: catalog.digest,
  sequence: catalog.sequence,
  readMs,
  calls,
  idleMb,
  residentMb: residentMb(process.pid),
};
console.log(JSON.stringify(facts));
await client.close();
