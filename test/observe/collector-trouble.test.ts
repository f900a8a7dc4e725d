import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Client, SessionHandle } from '../../src/exports/client.ts';
import { startCollector, type OtlpCollector } from '../support/otlp-collector.ts';
import { eventually } from '../support/process.ts';
import { scrape } from '../support/scrape.ts';
import { stagePlane, type PlaneWorker, type StagedPlane } from '../plane/support/stage-plane.ts';

const MODULES = fileURLToPath(new URL('../fixtures/events-plane/modules', import.meta.url));
const DOWN = 'the trace collector takes no spans';

describe('a collector in trouble', () => {
  let collector: OtlpCollector;
  let plane: StagedPlane;
  beforeEach(async () => {
    collector = await startCollector();
    plane = await stagePlane('embedded');
  });
  afterEach(async () => {
    await plane.stop();
    await collector.stop();
  });

  async function start(): Promise<{ worker: PlaneWorker; session: SessionHandle; client: Client }> {
    const traces = { endpoint: collector.endpoint, headers: { authorization: 'Bearer of-the-collector' } };
    const worker = await plane.startWorker({
      modules: MODULES,
      health: { port: 0 },
      telemetry: { traces, metrics: {} },
    });
    return { worker, session: await plane.openSession(), client: plane.client };
  }

  const spansOf = async ({ healthUrl }: PlaneWorker, result: string): Promise<number> =>
    (await scrape(healthUrl)).value('sallyport_spans_total', { result }) ?? 0;
  const linesOf = ({ process }: PlaneWorker, message: string): string[] =>
    process.stderr.split('\n').filter((line) => line.includes(message));

  async function makeCalls({ client, session }: { client: Client; session: SessionHandle }, count: number) {
    const calls = Array.from({ length: count }, () =>
      client.call(session, 'near.end', { how: 'text', secret: 'x' }, { waitMs: 60_000 }),
    );
    return (await Promise.all(calls)).map((answer) => (answer.kind === 'settled' ? answer.outcome.kind : answer.kind));
  }

  it('that is down is logged once, and calls go on', async () => {
    await collector.stop();
    const running = await start();
    for (const round of [1, 2]) {
      expect(new Set(await makeCalls(running, 20))).toStrictEqual(new Set(['ok']));
      await eventually(async () => (await spansOf(running.worker, 'failed')) >= round * 20 * 6, {
        what: `the spans of round ${round} given up`,
      });
    }
    const told = linesOf(running.worker, DOWN);
    expect(told).toHaveLength(1);
    expect(JSON.parse(told[0]!)).toMatchObject({ endpoint: collector.endpoint });
    expect(running.worker.process.stderr).not.toContain('of-the-collector');
  });

  it('that comes back is logged too, and gets the spans from then on', async () => {
    await collector.stop();
    const running = await start();
    await makeCalls(running, 1);
    await eventually(async () => (await spansOf(running.worker, 'failed')) > 0, { what: 'a loss' });
    await collector.restart();
    await makeCalls(running, 1);
    await eventually(() => collector.spans.length >= 6, { what: 'spans again' });
    await eventually(() => linesOf(running.worker, 'takes spans again').length > 0, { what: 'the line' });
    expect(linesOf(running.worker, 'takes spans again')).toHaveLength(1);
  });

  it('that never answers costs neither a call nor the end of the worker', async () => {
    collector.answer = () => undefined;
    const running = await start();
    expect(new Set(await makeCalls(running, 50))).toStrictEqual(new Set(['ok']));
    await eventually(() => collector.requests.length > 0, { what: 'a request' });
    expect(new Set(await makeCalls(running, 50))).toStrictEqual(new Set(['ok']));
    running.worker.process.kill('SIGTERM');
    await running.worker.process.waitForLine(/^drained/);
  });

  it('that refuses is logged with its answer', async () => {
    collector.answer = (response) => void response.writeHead(401, 'Unauthorized').end();
    const running = await start();
    await makeCalls(running, 1);
    const [line] = await eventually(
      () => (linesOf(running.worker, DOWN).length > 0 ? linesOf(running.worker, DOWN) : undefined),
      { what: 'the line' },
    );
    expect(JSON.parse(line!)).toMatchObject({ level: 40, problem: 'Unauthorized' });
  });
});
