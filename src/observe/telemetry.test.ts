import { describe, expect, it } from 'vitest';
import { SILENT } from './log.ts';
import { createEventBus } from './event-bus.ts';
import { startTelemetry, type TelemetryOptions } from './telemetry.ts';

const NEEDS = { role: 'worker', release: '0.0.0', instance: 'one', log: SILENT } as const;
/** No collector listens at this address. None is needed: the tests emit no event, so no span is sent. */
const NOWHERE = 'http://127.0.0.1:9/v1/traces';

async function busWith(options: TelemetryOptions) {
  const bus = createEventBus();
  const telemetry = await startTelemetry(options, NEEDS);
  telemetry?.follow(bus);
  const seen = { exists: telemetry !== undefined, listening: bus.listening, spans: bus.spans };
  await bus.close();
  await telemetry?.close();
  return { ...seen, after: bus.listening };
}

describe('startTelemetry', () => {
  it('attaches no listener when everything is off', async () => {
    expect(await busWith({})).toStrictEqual({ exists: false, listening: false, spans: true, after: false });
  });

  it('counts without asking for spans', async () => {
    expect(await busWith({ metrics: {} })).toMatchObject({ exists: true, listening: true, spans: false, after: false });
  });

  it('asks for spans to trace', async () => {
    const both = { metrics: {}, traces: { endpoint: NOWHERE } };
    expect(await busWith(both)).toMatchObject({ exists: true, listening: true, spans: true, after: false });
  });

  it('lets the ratio decide about traces that begin here', async () => {
    for (const [sampleRatio, kept] of [
      [0, false],
      [1, true],
    ] as const) {
      const bus = createEventBus();
      const telemetry = await startTelemetry({ traces: { endpoint: NOWHERE, sampleRatio } }, NEEDS);
      telemetry?.follow(bus);
      expect(bus.samples('0af7651916cd43dd8448eb211c80319c')).toBe(kept);
      await telemetry?.close();
      await bus.close();
    }
  });
});
