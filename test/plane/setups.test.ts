import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createModuleFolder, type ModuleFolder } from '../fixtures/catalog/module-folder.ts';
import { eventually } from '../support/process.ts';
import { BACKENDS, outcomeOf, stagePlane, type StagedPlane } from './support/stage-plane.ts';

const MAILBOX = `import { defineModule, jsonSchema, tool } from 'sallyport/tool';
const born = Math.random();
export default defineModule({
  id: 'mailbox',
  version: '1.0.0',
  description: 'A mailbox.',
  setup: jsonSchema({ type: 'object', properties: { address: { type: 'string' } }, required: ['address'] }),
  tools: {
    address: tool({
      description: 'Tells the address of the mailbox.',
      effect: 'read',
      input: jsonSchema({ type: 'object', additionalProperties: false }),
      run: (_, { setup }) => ({ address: setup.address, born }),
    }),
  },
});
`;

const manifest = (mailboxes: Readonly<Record<string, string>>, runner: string): string =>
  JSON.stringify(
    Object.entries(mailboxes).map(([id, address]) => ({ id, file: 'mailbox.js', runner, setup: { address } })),
  );

describe.each(BACKENDS)('two setups of one module on %s', (backend) => {
  let plane: StagedPlane;
  let folder: ModuleFolder;
  beforeEach(async () => {
    plane = await stagePlane(backend);
    folder = createModuleFolder({ 'mailbox.js': MAILBOX });
  });
  afterEach(async () => {
    await plane.stop();
    folder.dispose();
  });

  interface Answer {
    readonly address: string;
    readonly born: number;
  }

  /** Starts a worker that serves the module with both setups. Returns functions that call a tool and that change the setup `home`. */
  async function serve(runner: string) {
    folder.write('modules.json', manifest({ home: 'ann@home', work: 'ann@work' }, runner));
    await plane.startWorker({ modules: folder.file('modules.json'), watch: true });
    const session = await plane.openSession();
    const ask = async (id: string): Promise<Answer> => {
      const outcome = await outcomeOf(plane, session, await plane.client.call(session, `${id}.address`, {}));
      return outcome.structured as unknown as Answer;
    };
    const changeHome = async (): Promise<void> => {
      folder.write('modules.json', manifest({ home: 'bob@home', work: 'ann@work' }, runner));
      const changed = async (): Promise<boolean> => (await ask('home')).address === 'bob@home';
      await eventually(changed, { what: 'the changed setup' });
    };
    return { ask, changeHome };
  }

  it.each(['inline', 'process'])('answer by their own, also after one of them changed (%s)', async (runner) => {
    const { ask, changeHome } = await serve(runner);
    expect((await ask('home')).address).toBe('ann@home');
    expect((await ask('work')).address).toBe('ann@work');
    const before = await plane.client.catalog();
    await changeHome();
    expect((await ask('work')).address).toBe('ann@work');
    // What callers are shown does not depend on a setup, so no caller has to read the catalog again.
    expect((await plane.client.catalog()).digest).toBe(before.digest);
  });

  it('keep what their code holds in memory when one of them changed', async () => {
    const { ask, changeHome } = await serve('inline');
    const { born } = await ask('work');
    await changeHome();
    expect([(await ask('home')).born, (await ask('work')).born]).toStrictEqual([born, born]);
  });
});
