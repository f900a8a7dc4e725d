import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { jsonOf } from '../cli/run-cli.ts';
import { expectCalm, openBrowser, type ConsoleBrowser, type ConsolePage } from '../console/browser.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { AskedCall, AskingClient } from './asked-call.ts';
import { callIdOf, CLIENTS, textOf } from './asking-clients.ts';
import { JOURNEYS, mailTo, type Journey, type Mail } from './decisions.ts';
import { PLANES, type JourneyPlane } from './journey-plane.ts';

type ClientKind = keyof typeof CLIENTS;
type AuditRecord = Readonly<Record<string, unknown>>;

const TOLD: Readonly<Record<ClientKind, RegExp>> = {
  'a client of 2026-07-28 with forms': /it waits for somebody else to approve it.*"mail-\d+@example.com"/s,
  'a client of 2025-11-25 with forms': /it waits for somebody else to approve it.*"mail-\d+@example.com"/s,
  'a client without forms': /waits for a person to approve it, as \S+\. .* call this tool again/,
  'a client with tasks': /^working: It waits for a person/,
};
const KINDS = Object.keys(CLIENTS) as ClientKind[];
const WHATS = Object.keys(JOURNEYS) as (keyof typeof JOURNEYS)[];
/** Every pair of a client and a decision is tested on one of the two planes, and every decision is tested on both. */
const shareOf = (share: number) =>
  KINDS.flatMap((kind, row) =>
    WHATS.filter((_, column) => (row + column) % 2 === share).map((what) => [kind, what] as const),
  );

afterAll(() => failOnLeaks());

describe.each([
  ['worker and gateway on Redis', shareOf(0)],
  ['dev on the embedded store', shareOf(1)],
] as const)('an approval on %s', (which, pairs) => {
  let plane: JourneyPlane;
  let token: string;
  let browser: ConsoleBrowser;
  let desk: ConsolePage;
  let client: AskingClient | undefined;
  let mails = 0;
  beforeAll(async () => {
    plane = await PLANES[which]();
    browser = await openBrowser(plane);
    const flags = ['--scope', 'agent', '--agent', 'support', '--subject', 'lena'];
    token = String(jsonOf(await plane.cli('tokens', 'create', 'journey', ...flags, '--json'))['token']);
  });
  afterAll(async () => {
    await browser.close();
    await plane.stop();
  });
  beforeEach(async () => {
    desk = await browser.signIn();
    await desk.open('/console/approvals');
    await desk.page.getByText('Nothing waits for you.').waitFor();
  });
  afterEach(async () => {
    await client?.close();
    client = undefined;
    expectCalm(desk);
    await desk.close();
  });

  async function ask(kind: ClientKind, { tool }: Journey): Promise<{ readonly mail: Mail; readonly asked: AskedCall }> {
    client = CLIENTS[kind]({ url: plane.url, token });
    const mail = mailTo(`mail-${(mails += 1)}@example.com`);
    const args = tool === 'mail' ? { ...mail } : { payment: mail.to, amount: 1, currency: 'EUR' };
    const asked = client.ask(`desk__${tool}`, args);
    expect(await asked.told).toMatch(TOLD[kind]);
    return { mail, asked };
  }

  /** Expects that the tool ran once with exactly these arguments, or never, and that the client and the audit agree with that. */
  async function expectEnd(journey: Journey, mail: Mail, ending: ReturnType<AskedCall['end']>): Promise<void> {
    const result = await ending;
    const runs = journey.runs(mail);
    const mine = plane.ran().filter((line) => line.includes(`"${mail.to}"`));
    // The order of an object's members has no meaning, so parsed values are compared.
    expect(mine.map((line) => JSON.parse(line) as unknown)).toEqual(
      runs === undefined ? [] : [{ tool: journey.tool, args: runs }],
    );
    expect(result.isError ?? false).toBe(runs === undefined);
    expect(result.structuredContent).toEqual(runs && { sent: true, to: mail.to });
    const outcome = result._meta?.['sallyport/outcome'] as { code?: string } | undefined;
    expect({ told: outcome !== undefined, code: outcome?.code }).toEqual({ told: true, code: journey.code });
    expect(textOf(result)).toContain(journey.text ?? '');
    expect(await recordsOf(callIdOf(result))).toMatchObject(journey.audit);
  }

  /** Returns the records of a call once its end is among them. On Redis a gateway has to drain them to the sink first. */
  function recordsOf(callId: string): Promise<readonly AuditRecord[]> {
    return eventually(
      async () => {
        const records = jsonOf(await plane.cli('audit', 'query', '--call', callId, '--json'));
        const found = records as unknown as AuditRecord[];
        return found.some(({ event }) => String(event).startsWith('call.')) ? found : undefined;
      },
      { what: 'the records of the call' },
    );
  }

  it.each(pairs)('asked by %s %s', async (kind, what) => {
    const journey: Journey = JOURNEYS[what];
    const { mail, asked } = await ask(kind, journey);
    const ending = asked.end();
    ending.catch(() => undefined);
    await journey.decide({ plane, desk, mail });
    await expectEnd(journey, mail, ending);
  });

  it.each(KINDS)(
    'asked by %s outlives a kill -9 of the gateway, and is decided on the page that was open',
    async (kind) => {
      const journey: Journey = JOURNEYS['is allowed in the console'];
      const { mail, asked } = await ask(kind, journey);
      await desk.page.locator('.question', { hasText: mail.to }).waitFor();
      await plane.end('SIGKILL');
      await plane.start();
      await journey.decide({ plane, desk, mail });
      await expectEnd(journey, mail, asked.end());
      // Only a session of 2025-11-25 ends with its gateway, so its client makes the call again; the others ask for the call they have made.
      expect(asked.sent()).toBe(kind === 'a client of 2025-11-25 with forms' ? 2 : 1);
    },
  );

  it.each(KINDS.slice(0, 2))('asked by %s that waits outlives a gateway that is stopped', async (kind) => {
    const journey: Journey = JOURNEYS['is allowed on the command line'];
    const { mail, asked } = await ask(kind, journey);
    const ending = asked.end();
    ending.catch(() => undefined);
    await plane.end('SIGTERM');
    await plane.start();
    await journey.decide({ plane, desk, mail });
    await expectEnd(journey, mail, ending);
  });

  it('leaves an audit that verifies', async () => {
    const verified = await plane.cli('audit', 'verify');
    expect([verified.code, verified.stdout]).toMatchObject([0, expect.any(String)]);
  });
});
