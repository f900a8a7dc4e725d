import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { wrongClock } from '../support/wrong-clock.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';

const TEN_DAYS_MS = 10 * 24 * 3_600_000;

let gateway: GatewayFixture;
beforeAll(async () => void (gateway = await startGatewayFixture({ store: 'redis', env: wrongClock(TEN_DAYS_MS) })));
afterAll(async () => {
  await gateway.stop();
  failOnLeaks();
});

it('the audit of a gateway whose clock is behind shows the newest records: it asks for the time of the store', async () => {
  const operator = await gateway.makeToken({ scopes: ['operator'] });
  const items = async (query: string): Promise<{ event: string; at: number }[]> => {
    const answer = await gateway.request(`/v1/audit?${query}`, { token: operator });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { items: { event: string; at: number }[] }).items;
  };
  // With `to` in the query the gateway does not use its own clock.
  await eventually(async () => (await items(`to=${Date.now() + TEN_DAYS_MS}`)).length > 0, {
    what: 'a record in the sink',
  });
  expect(await items('')).toContainEqual(expect.objectContaining({ event: 'policy.changed' }));
});
