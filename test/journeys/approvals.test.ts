import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonOf } from '../cli/run-cli.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { callIdOf, CLIENTS, textOf, type AskedCall, type AskingClient } from './asking-clients.ts';
import { PLANES, type JourneyPlane } from './journey-plane.ts';

afterAll(() => failOnLeaks());

describe.each(Object.keys(PLANES) as (keyof typeof PLANES)[])('%s', (which) => {
  let plane: JourneyPlane;
  let token: string;
  beforeAll(async () => {
    plane = await PLANES[which]();
    const flags = ['--scope', 'agent', '--agent', 'support', '--subject', 'lena'];
    token = String(jsonOf(await plane.cli('tokens', 'create', 'journey', ...flags, '--json'))['token']);
  });
  afterAll(() => plane.stop());

  describe.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])('%s', (kind) => {
    it('cli allow', async () => {
      const client = CLIENTS[kind]({ url: plane.url, token });
      const asked = client.ask('desk__mail', { to: 'a', subject: 'b', body: 'c' });
      console.log(await asked.told);
      const ending = asked.end();
      const list = jsonOf(await plane.cli('approvals', 'list', '--json')) as unknown as any[];
      const { id, binding } = list[0].question;
      console.log(await plane.cli('approvals', 'decide', id, 'allow-once', '--digest', binding));
      const r = await ending;
      console.log(r, plane.ran());
      console.log((await plane.cli('audit', 'query', '--call', callIdOf(r), '--json')).stdout);
      await client.close();
    });
    it.each([['SIGKILL', 'form'], ['SIGKILL', 'wait'], ['SIGTERM', 'form'],['SIGTERM','wait']] as const)('kill %s %s', async (signal, when) => {
      const client = CLIENTS[kind]({ url: plane.url, token });
      const asked = client.ask('desk__mail', { to: signal + when, subject: 'b', body: 'c' });
      await asked.told;
      let ending: any;
      if (when === 'wait') ending = asked.end();
      await plane.end(signal);
      await plane.start();
      const list = jsonOf(await plane.cli('approvals', 'list', '--json')) as unknown as any[];
      const { id, binding } = list[0].question;
      console.log((await plane.cli('approvals', 'decide', id, 'allow-once', '--digest', binding)).stdout);
      ending ??= asked.end();
      const r = await ending;
      console.log(r, plane.ran());
      await client.close();
    });
  });
});
