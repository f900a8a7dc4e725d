import { expect, it } from 'vitest';
import { definitionDigest } from '../../../src/domain/upstream/definition.ts';
import type { UpstreamPins } from '../../../src/domain/upstream/pin.ts';
import { readAuditDetail } from '../../../src/domain/audit/audit-detail.ts';
import { readWholeAudit } from '../observe.ts';
import type { Scene } from '../scene.ts';

const BODY = { name: 'read', description: 'Reads.', inputSchema: { type: 'object' } };
const PINS: UpstreamPins = {
  server: { name: 'files', version: '1.0.0' },
  pins: [
    { kind: 'tool', name: 'read', body: BODY, digest: definitionDigest({ kind: 'tool', body: BODY }), effect: 'read' },
  ],
};
const OFFER = { server: PINS.server, definitions: [{ kind: 'tool', name: 'read', body: BODY }] } as const;
const ADA = { actor: { by: 'operator ada', via: 'cli' } } as const;

export function describePins(scene: Scene): void {
  it('there are no pins in a new store, and nothing was seen', async () => {
    const store = await scene.open();
    expect(await store.readPins()).toStrictEqual({ version: 0, upstreams: {} });
    expect(await store.readNewerPins({ after: 0 })).toBeUndefined();
    expect(await store.readOffer({ upstream: 'files' })).toBeUndefined();
  });

  it('pins are written by compare-and-set, and every process reads them', async () => {
    const [store, other] = await scene.openPair();
    const first = { ...ADA, expectedVersion: 0, upstreams: { files: PINS }, changed: ['files: tool read accepted'] };
    expect(await store.writePins(first)).toStrictEqual({ kind: 'written', version: 1 });
    expect(await other.readNewerPins({ after: 0 })).toStrictEqual({ version: 1, upstreams: { files: PINS } });
    expect(await other.readNewerPins({ after: 1 })).toBeUndefined();
    const late = { ...ADA, expectedVersion: 0, upstreams: {}, changed: ['files dropped'] };
    expect(await other.writePins(late)).toStrictEqual({ kind: 'conflict', version: 1 });
    expect(await store.readPins()).toStrictEqual({ version: 1, upstreams: { files: PINS } });
  });

  it('a writer that repeats its request after a lost answer gets the same answer, and one record', async () => {
    const store = await scene.open();
    const request = { ...ADA, expectedVersion: 0, upstreams: { files: PINS }, changed: ['files: tool read accepted'] };
    await store.writePins(request);
    expect(await store.writePins(request)).toStrictEqual({ kind: 'written', version: 1 });
    const lanes = await Promise.all(store.auditLanes.map((lane) => readWholeAudit(store, lane)));
    const records = lanes.flat().filter(({ event }) => event === 'pins.changed');
    expect(records.map(({ detail }) => readAuditDetail(detail).facts)).toMatchObject([
      { by: 'operator ada', via: 'cli', changed: ['files: tool read accepted'] },
    ]);
  });

  it('what a worker saw at a server is kept per server, the latest report', async () => {
    const [store, other] = await scene.openPair();
    const changed = { ...OFFER, definitions: [] };
    await store.reportOffer({ upstream: 'files', seen: { first: OFFER, now: OFFER } });
    await other.reportOffer({ upstream: 'files', seen: { first: OFFER, now: changed } });
    await other.reportOffer({ upstream: 'mail', seen: { first: changed, now: changed } });
    expect(await store.readOffer({ upstream: 'files' })).toStrictEqual({ first: OFFER, now: changed });
    expect(await store.readOffer({ upstream: 'mail' })).toStrictEqual({ first: changed, now: changed });
  });
}
