import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { WorkerOptions } from 'sallyport';
import type { Variant } from '../variant.ts';
import { onRedis, openCaller, serve } from './sallyport.ts';

type Telemetry = NonNullable<WorkerOptions['telemetry']>;

/** A collector that accepts everything and stores nothing. It runs in its own process, so that its cost is not counted as Sallyport's. */
const COLLECTOR = `
  const server = require('node:http').createServer((request, response) => {
    request.resume().on('end', () => response.end('{}'));
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
  process.on('disconnect', () => process.exit());
`;

async function startCollector(): Promise<{ endpoint: string; collector: ChildProcess }> {
  const collector = spawn(process.execPath, ['-e', COLLECTOR], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [port] = (await once(createInterface(collector.stdout!), 'line')) as [string];
  return { endpoint: `http://127.0.0.1:${port}/v1/traces`, collector };
}

/** The plane on Redis with a `read` tool, with telemetry on both sides. */
function withTelemetry(about: string, telemetryFor: (endpoint: string) => Telemetry): Variant {
  const side = async <Side extends { close(): Promise<void> }>(
    open: (telemetry: Telemetry) => Promise<Side>,
  ): Promise<Side> => {
    const { endpoint, collector } = await startCollector();
    const opened = await open(telemetryFor(endpoint));
    return {
      ...opened,
      async close() {
        await opened.close();
        collector.disconnect();
        await once(collector, 'exit');
      },
    };
  };
  return {
    about,
    openWorker: (place) => side((telemetry) => serve(onRedis(place), {}, { telemetry })),
    openCaller: (place) =>
      side(({ traces }) => openCaller(onRedis(place), 'bench.read', traces && { telemetry: { traces } })),
  };
}

export const counted = withTelemetry('sallyport-read with metrics on the worker', () => ({ metrics: {} }));
export const traced = withTelemetry('sallyport-read with every call traced, by caller and worker', (endpoint) => ({
  traces: { endpoint },
}));
export const sampled = withTelemetry('sallyport-read with one call in a hundred traced', (endpoint) => ({
  traces: { endpoint, sampleRatio: 0.01 },
}));
